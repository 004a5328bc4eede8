"""Counts what an import has stored, has found stored, and has left out: by channel and reason.

A report must stay small however large the file is.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnestic.starter.importers.programs.items import Unstorable

_MOST_EXAMPLES = 100


@dataclass
class ChannelCount:
    """The messages of a channel, or the records of a namespace, and their span of time."""

    total: int = 0
    new: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, at: datetime | None) -> None:
        """Counts one more."""
        self.total += 1
        if at is not None:
            self.first = at if self.first is None else min(self.first, at)
            self.last = at if self.last is None else max(self.last, at)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "new": self.new,
            "known": self.total - self.new,
            "first": self.first.isoformat() if self.first else None,
            "last": self.last.isoformat() if self.last else None,
        }


@dataclass
class ImportReport:
    """What an import has done up to now."""

    format: str
    channels: dict[str, ChannelCount] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[Unstorable] = field(default_factory=list)
    media: int = 0
    read: int = 0

    def channel(self, name: str) -> ChannelCount:
        """The counts of a channel."""
        return self.channels.setdefault(name, ChannelCount())

    def skip(self, skipped: Unstorable) -> None:
        """Counts what cannot be stored; the first ones are shown with their places."""
        self.skipped[skipped.why] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(skipped)

    @property
    def new(self) -> int:
        """Messages and records that were not stored before."""
        return sum(one.new for one in self.channels.values())

    @property
    def known(self) -> int:
        """Messages and records that were stored before."""
        return sum(one.total - one.new for one in self.channels.values())

    def document(self) -> dict[str, Any]:
        """As JSON."""
        firsts = [one.first for one in self.channels.values() if one.first]
        lasts = [one.last for one in self.channels.values() if one.last]
        return {
            "format": self.format,
            "new": self.new,
            "known": self.known,
            "first": min(firsts).isoformat() if firsts else None,
            "last": max(lasts).isoformat() if lasts else None,
            "media": self.media,
            "left_out": dict(self.left_out),
            "skipped": {
                "count": self.skipped.total(),
                "reasons": dict(self.skipped),
                "examples": [one._asdict() for one in self.examples],
            },
            "channels": [{"channel": name} | one.document() for name, one in self.channels.items()],
        }
