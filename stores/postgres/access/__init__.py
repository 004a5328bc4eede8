"""API keys and the audit log in Postgres."""
