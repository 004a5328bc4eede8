"""Agent jobs: plans, waits, snapshots, working memory, episodes and records."""
