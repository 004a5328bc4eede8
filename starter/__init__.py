"""The ways in: client, command line, embedded runtime."""
