"""The settings for clients that the guide has, in their order: over standard input and output, over HTTP."""

import json
from pathlib import Path
from typing import Any


def settings_of(root: Path, number: int) -> dict[str, Any]:
    """The settings of a block of the guide."""
    guide = (root / "docs" / "mcp.md").read_text(encoding="utf-8")
    settings: dict[str, Any] = json.loads(guide.split("```json\n")[number].split("```")[0])
    return dict(settings["mcpServers"]["memory"])
