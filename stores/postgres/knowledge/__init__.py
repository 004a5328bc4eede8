"""What is known: resources, claims, facts, entries, vectors and events."""
