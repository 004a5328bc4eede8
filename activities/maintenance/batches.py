"""Batches of an agent's maintenance: each is a transaction of its own, so neither memory nor locks grow with the agent."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self

from mnestic.memory.maintenance.removal_guard import ALLOWED, ActiveMemory

_AFTER, _STOPPED = "after", "stopped"  # beside the counts in the ledger


class BatchSizes(NamedTuple):
    """How much one batch does at most. What is read of it into memory, and what it locks, is bounded by these."""

    faded: int = 2000  # facts
    archived: int = 10_000  # entries that a cleanup archives
    deleted: int = 2000  # archived entries
    expired: int = 2000  # entries that a night removes
    compared: int = 20_000  # entries that a night compares with each other
    renewed: int = 20_000  # entries whose importance a night computes


BATCH_SIZES = BatchSizes()


class BatchRun(NamedTuple):
    """The run that batches are of."""

    now: datetime  # decides what has expired and how old things are
    at: datetime  # of the transaction, no earlier than `now`: what is stored is as of then, so a late run makes nothing older
    run: str  # its name, in the archive and in claims
    sizes: BatchSizes
    removes: bool = True  # without it, the batch leaves out what the guard counts


class Batch(NamedTuple):
    """What a batch of an agent's maintenance did, and where the next one begins.

    The first batch also says what later ones would remove, so that the guard decides before anything is changed.
    """

    counts: Counter[str]
    after: str | None = None  # None: it was the last
    left: Counter[str] | None = None  # what all later batches would do, where that is known before
    left_active: ActiveMemory | None = None  # active memory that later batches would remove
    stopped: str | None = None  # why the guard let nothing be removed

    @property
    def all_counts(self) -> Counter[str]:
        """The counts with those of all later batches."""
        return self.counts + (self.left or Counter())

    @property
    def is_to_store(self) -> bool:
        """Whether the ledger needs it: it has changed something, or is not the last."""
        return bool(self.counts) or self.after is not None

    def dump(self, *, is_allowed: bool) -> dict[str, Any]:
        """The result in the ledger, and whether a person has allowed the removals of the run."""
        dumped: dict[str, Any] = (
            {**self.counts} if self.after is None else {**self.counts, _AFTER: self.after}
        )
        if self.stopped is not None:
            dumped[_STOPPED] = self.stopped
        return dumped | {ALLOWED: True} if is_allowed else dumped

    @classmethod
    def load(cls, result: Mapping[str, Any]) -> Self:
        """The batch with a result of the ledger."""
        counts = {
            name: int(count)
            for name, count in result.items()
            if name not in {_AFTER, _STOPPED, ALLOWED}
        }
        return cls(Counter(counts), after=result.get(_AFTER), stopped=result.get(_STOPPED))
