"""The commands that query memory."""
