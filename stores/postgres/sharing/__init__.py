"""Memory between agents, in Postgres."""
