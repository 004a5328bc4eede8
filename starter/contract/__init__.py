"""Contracts of agents' memory: read, checked, applied."""
