"""What forgetting stores, and its scan of the rows that may speak of a topic."""
