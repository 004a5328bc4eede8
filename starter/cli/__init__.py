"""The `mnestic` command."""
