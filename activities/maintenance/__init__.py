"""Maintenance: one kind for a batch of agents, and what concerns a whole tenant."""
