"""Benchmarks of adding messages and extracting from them."""
