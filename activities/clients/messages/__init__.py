"""Which parts of a message may state a fact, and the facts in records of tools, for the local extractor."""
