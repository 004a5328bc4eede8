"""Does one thing to the world, idempotently, through ports."""
