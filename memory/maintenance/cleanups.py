"""The cleanup of an agent: how much it would do, and how far it is."""

from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel


class CleanupCursor(DeferredModel):
    """How far a cleanup is. Entries are archived in the order of their numbers, then archived ones are deleted in that of their ids."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    most_needed: str | None = None
    """The most important one of the entries that are too many, as `plan_cleanup.sql` writes it; None without such."""
    number: int | None = None  # of the last entry that was archived; None once all are
    archived_id: str | None = None  # the last one that was deleted; None once all are

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self.number is None and self.archived_id is None


class CleanupPlan(NamedTuple):
    """How many entries a cleanup archives, how many archived ones it deletes, and where it begins; None if there are none."""

    archived: int
    deleted: int
    cursor: CleanupCursor | None


class UnneededEntries(NamedTuple):
    """Entries to archive next, by why, and the number of the last; None if there are no more."""

    unimportant: tuple[str, ...]
    over_limit: tuple[str, ...]
    after: int | None
