"""Benchmarks of retrieval."""
