"""Rates by kind: how many cases of a kind hold, as `make rates` prints them and docs/retrieval-quality.md has them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "retrieval-quality.md"
TABLE = "table"
"""The property of a test that holds a table; `conftest.py` prints it at the end of a run, with several processes too."""

_NONE = "-"
_CELL = re.compile(r"(\d+) % of (\d+)")
_FIGURE = 0.01  # percents are cut, so a rate may be nearly one higher than it looks

RecordProperty = Callable[[str, object], None]


class Rate(NamedTuple):
    """How many of a number of cases hold."""

    right: int
    count: int

    @classmethod
    def of(cls, outcomes: Sequence[bool]) -> "Rate":
        return cls(sum(outcomes), len(outcomes))

    def __str__(self) -> str:
        """Whole percents, cut, so that only a rate without a failure is 100 %."""
        return f"{100 * self.right // self.count} % of {self.count}" if self.count else _NONE

    def is_below(self, floor: float | None) -> bool:
        return floor is not None and self.count > 0 and self.right / self.count < floor


class PublishedRate(NamedTuple):
    """A cell of a published table."""

    percent: int
    count: int

    def allows(self, floor: float | None) -> bool:
        """Whether a floor is at most one case below it; a kind of which nothing holds has none."""
        if floor is None:
            return self.percent == 0
        return floor >= self.percent / 100 - 1 / self.count - _FIGURE and floor > 0


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = (columns, ["---"] * len(columns), *rows)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def published_rates(heading: str) -> Mapping[str, list[PublishedRate | None]]:
    """The rates of each kind in the table of a section; None where a kind has no cases."""
    section = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rates: dict[str, list[PublishedRate | None]] = {}
    kind = ""
    for line in section.splitlines():
        if not _CELL.search(line) or not line.startswith("| "):
            continue
        for cell in line.strip("| ").split(" | "):
            if found := _CELL.fullmatch(cell):
                rates[kind].append(PublishedRate(*map(int, found.groups())))
            elif cell == _NONE:
                rates[kind].append(None)
            else:
                rates[kind := cell] = []
    return rates
