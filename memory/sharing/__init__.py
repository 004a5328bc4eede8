"""Memory between agents: events on channels."""
