"""The ways in, whose fixtures stand beside their tests."""

from tests.starter.cli.conftest import ask, cli, wired
from tests.starter.http.conftest import app, new_key, routes, tenants
from tests.starter.mcp.conftest import connect

__all__ = ["app", "ask", "cli", "connect", "new_key", "routes", "tenants", "wired"]
