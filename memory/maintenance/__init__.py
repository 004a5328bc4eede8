"""Maintenance: what runs on Schedules, by which policy, and what it reports."""
