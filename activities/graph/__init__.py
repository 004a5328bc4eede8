"""The graph: its reads, the operations of a contract, and queries by an engine."""
