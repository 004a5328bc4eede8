"""The calls of `mcp_tools.yaml`: a tool without one there fails the tests."""

from typing import Any

from tests.starter.case_files import read_cases

CASES: dict[str, dict[str, dict[str, Any]]] = read_cases(__file__, "mcp_tools")
EACH = [(path, name) for path, tools in CASES.items() for name in tools]
