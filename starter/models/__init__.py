"""What models have cost."""
