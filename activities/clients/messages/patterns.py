"""Patterns as data: rows of regular expressions in a YAML file, compiled to one when the file is validated."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator


def _compiled(value: Any) -> Any:
    """One expression of `words`, which match whole words, and of `signs`, which match as they stand."""
    if not isinstance(value, dict) or not value or value.keys() - {"words", "signs"}:
        raise ValueError("a pattern has `words`, `signs` or both")
    words = "|".join(value.get("words", ()))
    rows = [rf"\b(?:{words})\b"] if words else []
    try:
        return re.compile("|".join([*rows, *value.get("signs", ())]), re.IGNORECASE | re.MULTILINE)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]
"""Whatever of its rows is found first, in capitals or small letters."""
