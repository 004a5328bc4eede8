"""What jobs store: working memory, records, episodes, snapshots and waits."""
