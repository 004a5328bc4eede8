"""The activities that answer queries: search, reranking, contexts and auto-retrieval."""
