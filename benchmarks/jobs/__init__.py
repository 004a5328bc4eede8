"""Benchmarks of jobs and working memory."""
