"""`Maintenance`: what runs on Schedules."""
