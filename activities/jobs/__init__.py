"""The activities of jobs: think, recall, remember, wait, fork, end."""
