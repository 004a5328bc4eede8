"""API keys, the audit log, and writes that are done once."""
