"""A plan that waits for an answer, as clients of MCP start it."""

from pathlib import Path

PLAN = Path(__file__).with_name("approval.yaml").read_text("utf-8")
