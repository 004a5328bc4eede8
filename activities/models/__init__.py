"""Calls of models: how many at once, within which budget, and their accounting."""
