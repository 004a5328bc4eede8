"""The commands about entries, facts and messages."""
