"""Durations as people write them: 30s, 15m, 2h, 21d, 1d12h."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

_RANGE = "a duration is at least a second and at most 3650 days"
_PARTS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def _duration(value: Any) -> Any:
    if not isinstance(value, str) or value.startswith("P"):
        return value
    if not re.fullmatch(r"(\d+[dhms])+", value):
        raise ValueError(f"{value!r} is not a duration; write it as 30s, 15m, 2h, 21d or 1d12h")
    parts = re.findall(r"(\d+)([dhms])", value)
    try:
        return sum((timedelta(**{_PARTS[unit]: int(n)}) for n, unit in parts), timedelta())
    except OverflowError:
        raise ValueError(_RANGE) from None


def _positive(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= timedelta(days=3650):
        raise ValueError(_RANGE)
    return value


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    AfterValidator(_positive),
]
