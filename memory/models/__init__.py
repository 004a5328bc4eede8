"""Calls of models: what is sent, what comes back, what it uses and costs."""
