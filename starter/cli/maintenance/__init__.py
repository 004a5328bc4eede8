"""Commands for maintenance and its Schedules."""
