"""The pages of jobs: the list, one job, its override, and actions on several at once."""
