"""The command about the costs of models."""
