"""Forgetting: topics, what speaks of them, and what becomes of it."""
