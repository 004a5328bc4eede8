"""The commands about jobs and records."""
