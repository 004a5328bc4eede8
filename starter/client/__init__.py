"""The Python clients: of Mnestic as a whole, and of one agent's memory."""
