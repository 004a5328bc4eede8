"""What queries read: candidates, vector indexes, agent settings and the retrieval log."""
