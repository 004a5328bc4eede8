"""Corrections: what messages take back of what the same person said before."""
