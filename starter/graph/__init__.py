"""Ways in to the graph of a contract."""
