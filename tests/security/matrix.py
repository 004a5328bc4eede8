"""Which cells of a matrix `make test` runs: the first of each group. `make check` runs the others."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def first_of_each(cases: Iterable[Any], group_of: Callable[[Any], Any]) -> list[Any]:
    """The cases in their order; all but the first of each group have the mark `acceptance`."""
    known = set()
    found = []
    for case in cases:
        marks = [pytest.mark.acceptance] if group_of(case) in known else []
        known.add(group_of(case))
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=marks))
    return found
