"""Clients of language models, local ones among them."""
