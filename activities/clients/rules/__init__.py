"""The local extractor: rules for English that claim little, and nothing that was not said."""
