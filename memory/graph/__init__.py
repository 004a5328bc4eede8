"""The graph of nodes and edges: what facts state and what is declared."""
