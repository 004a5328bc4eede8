"""Memory between agents: events on their way to jobs and subscribers."""
