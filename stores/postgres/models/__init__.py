"""The usage of models."""
