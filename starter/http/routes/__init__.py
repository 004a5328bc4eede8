"""The routers of the HTTP API, one for each capability; `app.py` lists them."""
