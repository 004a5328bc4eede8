"""Maintenance in Postgres: what changes many rows of an agent at once, and the reports of runs."""
