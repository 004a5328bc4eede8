"""The local extractor: facts of English messages, from their dependency parses."""
