"""`AgentJob` and `AgentMemory`: a plan, its waits, and memory inside a workflow."""
