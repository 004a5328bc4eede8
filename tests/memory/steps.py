"""How many steps a call takes, which no other load of the machine changes."""

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(call: Callable[[], object]) -> Counter[str]:
    """The calls of functions that a call makes, by the module that makes them and the name of what it calls in C."""
    counts = Counter[str]()

    def count(frame: FrameType, event: str, called: Any) -> None:
        if event in {"call", "c_call"}:
            counts["calls"] += 1
        if event == "c_call":
            counts[f"{frame.f_globals.get('__name__')}.{called.__name__}"] += 1

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts
