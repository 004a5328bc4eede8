"""Durations as people write them: 30s, 15m, 2h, 21d, 1d12h."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

_PARTS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def _duration(value: Any) -> Any:
    if not isinstance(value, str) or value.startswith("P"):
        return value
    if not re.fullmatch(r"(\d+[dhms])+", value):
        raise ValueError(f"{value!r} is not a duration; write it as 30s, 15m, 2h, 21d or 1d12h")
    parts = {_PARTS[unit]: int(number) for number, unit in re.findall(r"(\d+)([dhms])", value)}
    return timedelta(**parts)


def _positive(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= timedelta(days=3650):
        raise ValueError("a duration is at least a second and at most 3650 days")
    return value


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    AfterValidator(_positive),
    PlainSerializer(lambda value: f"{int(value.total_seconds())}s", return_type=str),
]
