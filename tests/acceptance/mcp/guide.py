"""What the guide shows a reader to copy: JSON in its order, and the command that makes a key."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

STDIO, HTTP, UPDATE = 1, 2, 3  # the places of its JSON


def json_of(root: Path, number: int) -> dict[str, Any]:
    """A JSON document of the guide."""
    document: dict[str, Any] = json.loads(_block(root, "json", number))
    return document


def settings_of(root: Path, number: int) -> dict[str, Any]:
    """The settings of a client."""
    return dict(json_of(root, number)["mcpServers"]["memory"])


def made_key(root: Path, mnestic: str, data: Path) -> str:
    """The key of the command that the guide shows."""
    _, *arguments = shlex.split(_block(root, "sh", 1))
    env = {**os.environ, "MNESTIC_DATA_DIR": str(data)}
    done = subprocess.run(
        [mnestic, *arguments, "--json"], env=env, check=True, capture_output=True, text=True
    )
    return next(word for word in done.stdout.replace('"', " ").split() if word.startswith("mnk."))


def _block(root: Path, language: str, number: int) -> str:
    guide = (root / "docs" / "mcp.md").read_text(encoding="utf-8")
    return guide.split(f"```{language}\n")[number].split("```")[0]
