"""The costs of models."""
