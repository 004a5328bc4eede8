"""The world model of a subject: histories, patterns and summaries of facts."""
