"""Durable memory for AI agents, on Temporal."""
