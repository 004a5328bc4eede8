"""Contracts in Postgres."""
