"""Sources of notes: an Obsidian vault, as a folder or by its Local REST API."""
