"""Retrieval: queries, candidates, ranking, contexts and auto-retrieval."""
