"""Durations as people write them: 30s, 15m, 2h, 21d, 1d12h, and delays of 200ms."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

_RANGE = "a duration is at least a second and at most 3650 days"
_SHORT_RANGE = "a delay is at least a millisecond and at most 3650 days"
_LONGEST = timedelta(days=3650)
_PARTS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds"}


def _duration(value: Any) -> Any:
    if not isinstance(value, str) or value.startswith("P"):
        return value
    if not re.fullmatch(r"(\d+(ms|[dhms]))+", value):
        raise ValueError(f"{value!r} is not a duration; write it as 30s, 15m, 2h, 21d or 1d12h")
    parts = re.findall(r"(\d+)(ms|[dhms])", value)
    try:
        return sum((timedelta(**{_PARTS[unit]: int(n)}) for n, unit in parts), timedelta())
    except OverflowError:
        raise ValueError(_RANGE) from None


def _positive(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= _LONGEST:
        raise ValueError(_RANGE)
    return value


def _short(value: timedelta) -> timedelta:
    if not timedelta(milliseconds=1) <= value <= _LONGEST:
        raise ValueError(_SHORT_RANGE)
    return value


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    AfterValidator(_positive),
]
"""How long to wait for something: a second or more."""

Delay = Annotated[
    timedelta,
    BeforeValidator(_duration),
    AfterValidator(_short),
]
"""A pause between attempts, also of milliseconds: 200ms."""
