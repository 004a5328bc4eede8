"""Pages of operators: API keys, health, and memory as files."""
