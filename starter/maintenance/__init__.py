"""Maintenance: its Schedules, and its runs by hand."""
