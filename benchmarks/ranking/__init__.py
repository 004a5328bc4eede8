"""The weights of the ranking, learned from questions with known answers."""
