"""The health of an installation: `mnestic doctor` and `GET /v1/health/detailed` share these checks."""
