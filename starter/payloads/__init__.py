"""What Temporal carries for us, encrypted and decoded, and the keys."""
