"""The health of an installation: `mnestic doctor` and `GET /health/detailed` share these checks."""
