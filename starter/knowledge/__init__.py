"""Extraction from outside a job: started, polled for, and previewed."""
