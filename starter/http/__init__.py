"""The HTTP API: a thin layer over the clients, with a router for each capability."""
