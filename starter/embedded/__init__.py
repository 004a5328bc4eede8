"""Postgres, Temporal and a worker on one machine, without installation."""
