"""Decides, durably and deterministically."""
