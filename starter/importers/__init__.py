"""Readers of conversations in files: JSON lines, LoCoMo's JSON, Markdown; `programs` reads exports of other programs."""
