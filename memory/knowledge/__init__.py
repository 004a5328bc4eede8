"""Knowledge: resources, extraction, claims, facts, entries and their relations."""
