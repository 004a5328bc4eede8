"""Segments of working memory: values, and the steps that change them."""
