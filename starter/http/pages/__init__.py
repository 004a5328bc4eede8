"""The page: memory and jobs in a browser, served beside the API; `site.py` lists its parts."""
