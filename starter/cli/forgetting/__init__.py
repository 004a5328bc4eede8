"""The command that forgets."""
