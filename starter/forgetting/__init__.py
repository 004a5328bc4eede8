"""Forgetting from outside a job: previewed, started and reported."""
