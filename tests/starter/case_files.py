"""Cases that are data: YAML beside the tests that read them."""

from pathlib import Path
from typing import Any

import yaml


def read_cases(test: str, name: str) -> Any:
    """The cases in a file beside a test; `{text: x, times: 300}` stands for a long text, with what is `before` it."""
    text = Path(test).with_name(f"{name}.yaml").read_text("utf-8")
    return _lengthened(yaml.load(text, Loader=yaml.CSafeLoader))


def _lengthened(value: Any) -> Any:
    if isinstance(value, list):
        return [_lengthened(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "times" in value:
        return value.get("before", "") + value["text"] * value["times"]
    return {name: _lengthened(member) for name, member in value.items()}
