"""Encryption and decoding of Temporal's payloads, and the keys."""
