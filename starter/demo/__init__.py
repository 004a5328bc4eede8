"""The demo: its scenario, and the counts that check it."""
