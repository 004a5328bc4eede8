"""`AgentInbox` and `IngestMessages`: messages come in and are extracted from."""
