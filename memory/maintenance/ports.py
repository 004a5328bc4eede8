"""The ports of maintenance. As other stores, they work inside their transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # who implements or uses one port loads no model of the others
    from mnestic.memory.knowledge.importance import ImportancePolicy
    from mnestic.memory.knowledge.relations import Place
    from mnestic.memory.maintenance.backups import Backup
    from mnestic.memory.maintenance.cleanups import CleanupCursor, CleanupPlan, UnneededEntries
    from mnestic.memory.maintenance.compression import Compression
    from mnestic.memory.maintenance.duplicates import AlikeEntries, Merge
    from mnestic.memory.maintenance.policies import CleanupPolicy, MaintenanceKind, WeeklyPolicy
    from mnestic.memory.maintenance.removal_guard import ActiveMemory
    from mnestic.memory.maintenance.samples import Sample
from mnestic.memory.maintenance.reports import MaintenanceReport, MemorySizes


class FadingFact(NamedTuple):
    """A fact that is to fade."""

    id: str
    subject: str
    predicate: str
    object: str


class Decay(NamedTuple):
    """How many facts have another confidence, how many all of it again, and how many are to fade."""

    decayed: int
    restored: int
    fading: int


class RebuiltIndex(NamedTuple):
    """An index that was rebuilt, or would be, with its bytes before and after."""

    name: str
    before: int
    after: int


class Vacuumed(NamedTuple):
    """The tables that were vacuumed, the indexes that were rebuilt, those that an interrupted rebuild had left, and problems."""

    tables: tuple[str, ...] = ()
    rebuilt: tuple[RebuiltIndex, ...] = ()
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class MaintenanceStore(Protocol):
    """Changes many rows of an agent at once."""

    async def count_active(self, now: datetime) -> ActiveMemory:
        """How many facts and messages' entries are active at a moment; what has expired is not."""
        ...

    async def count_archived(self, since: datetime, until: datetime) -> ActiveMemory:
        """How many facts and entries of the agent the runs that were scheduled in between have archived, but to merge or compress them.

        Runs whose removals a person has allowed are not counted.
        """
        ...

    async def remove_expired_records(self, now: datetime) -> int:
        """Removes the values of long-term records that have expired; their versions continue. Returns how many."""
        ...

    async def remove_old_rows(self, before: datetime) -> int:
        """Removes the audit log from before a moment, and the ledger and snapshots of jobs that had ended then.

        Nothing of the last 30 days goes, nor who changed an entry. Returns how many rows.
        """
        ...

    async def list_expired_entries(
        self, now: datetime, *, after: int, limit: int
    ) -> tuple[tuple[str, ...], int | None]:
        """The ids of messages' entries that have expired, so many after a number, and the number of the last; None if there are no more.

        Those of facts that have ended, and what a waiting job refers to, stay.
        """
        ...

    async def plan_cleanup(self, now: datetime, policy: CleanupPolicy, *, run: str) -> CleanupPlan:
        """How many entries a cleanup archives or deletes at a moment, as the policy says, and where it begins.

        Args:
            now: The moment.
            policy: It says which entries.
            run: The maintenance run, by the name that the archive has of it.
        """
        ...

    async def list_unneeded(
        self, now: datetime, policy: CleanupPolicy, cursor: CleanupCursor, *, run: str, limit: int
    ) -> UnneededEntries:
        """The entries that the cleanup of a plan archives next."""
        ...

    async def list_deletable(
        self, now: datetime, policy: CleanupPolicy, *, after: str, run: str, limit: int
    ) -> tuple[tuple[str, ...], str | None]:
        """The archived entries that a cleanup deletes, of so many after an id, and the last of all these, None if there are no more."""
        ...

    async def decay_facts(self, now: datetime, policy: WeeklyPolicy) -> Decay:
        """Computes the decayed confidence of active facts at a moment; a second time, nothing changes."""
        ...

    async def list_fading(
        self, now: datetime, policy: WeeklyPolicy, *, after: str, limit: int
    ) -> tuple[tuple[FadingFact, ...], str | None]:
        """Facts that have decayed so far that they fade, and the id after which there may be more, None if there are no more.

        So many that have decayed are looked at after an id, and with them all of the same subjects and predicates.
        """
        ...

    async def remove_orphans(self, places: Collection[Place] | None = None) -> int:
        """Removes raw messages that nothing refers to, of some places or of all; returns how many.

        These were learned from or given up, and have no claim and no entry, live or archived. In their sessions no job has
        waited, no episode is of them, and no message that is still to be learned from corrects them.
        """
        ...

    async def list_alike(self, now: datetime, *, after: int) -> tuple[AlikeEntries, ...]:
        """Groups of active entries that may say the same: with the same names, and the same letters and figures.

        Entries that others belong to or correct, and those that were restored, are in none.

        Args:
            now: Entries that have expired by then are in none.
            after: Groups come in the order of their first entries, those after an entry of this number.
        """
        ...

    async def compare(self, merges: Collection[Merge]) -> dict[Merge, float]:
        """How near the vectors of two entries are, as a cosine; the least of all models, and nothing without vectors."""
        ...

    async def merge(self, merges: Mapping[str, str]) -> None:
        """Notes of entries, which are to be archived, the one that each is merged into, which counts its accesses."""
        ...

    async def list_similar(
        self, now: datetime, policy: WeeklyPolicy, *, fewest: int, limit: int
    ) -> tuple[tuple[str, str], ...]:
        """Pairs of old entries that are similar, as the policy says, by id, those that were stored first before others.

        They are messages of one month, type, speaker and channel, with the same names, from which no claim was taken.
        Critical entries, corrections, those that others belong to or correct, and those that were restored are in none.
        """
        ...

    async def compress(self, plans: Collection[Compression]) -> None:
        """Notes of entries, which are to be archived, the one that they are compressed into."""
        ...

    async def promote_facts(self, now: datetime, *, step: float) -> int:
        """Adds to the confidence of active facts that were used since they were promoted last; returns how many.

        Args:
            now: What was used later counts the next time.
            step: What is added at most; no confidence rises above `MOST_CONFIDENT`.
        """
        ...

    async def find_end(self, after: int, *, limit: int) -> int | None:
        """The number of the last one of so many entries after a number; None if there are fewer."""
        ...

    async def renew_importance(
        self, now: datetime, policy: ImportancePolicy, *, after: int = 0, up_to: int | None = None
    ) -> int:
        """Computes the importance of entries at a moment; returns how many changed.

        It is what `mnestic.memory.knowledge.importance.importance` computes.

        Args:
            now: The moment.
            policy: What counts how much.
            after: The number after which entries are computed.
            up_to: The number of the last one; None for all.
        """
        ...

    async def mend_words(self, *, after: int, up_to: int | None) -> int:
        """Enters entries into full text search again that it lacks words of; returns how many.

        Args:
            after: The number after which entries are compared.
            up_to: The number of the last one; None for all.
        """
        ...


class MaintenanceReportStore(Protocol):
    """The reports of a tenant's maintenance runs."""

    async def add(self, report: MaintenanceReport) -> MaintenanceReport:
        """Keeps a report, and returns it; of an id that is there already, it changes nothing and returns that one."""
        ...

    async def list_reports(
        self, kind: MaintenanceKind | None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[MaintenanceReport, ...], str | None]:
        """Reports, newest first, and the cursor of the next page."""
        ...

    async def measure(self) -> MemorySizes:
        """How much the tenant's memory holds now."""
        ...

    async def list_samples(self) -> tuple[Sample, ...]:
        """What an operator watches of the tenant's memory, as it is now."""
        ...


class BackupCopies(Protocol):
    """Where copies of backups are, each whole or not at all."""

    def read_files(self, backup_id: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The files of a backup and their bytes, the manifest last.

        Raises:
            NotFoundError: there is no such backup, or it is not complete.
        """
        ...

    def copy_from(self, other: BackupCopies, backup_id: str) -> None:
        """Copies a backup from elsewhere here, whole or not at all; one that is here stays.

        Raises:
            NotFoundError: there is no such backup.
            UnavailableError: another process works here, or nobody answers.
            ConfigurationError: it cannot be written here.
        """
        ...

    def remove_copies(self, backup_ids: Collection[str]) -> None:
        """Removes those of some backups that are here.

        Raises:
            UnavailableError: another process works here, or nobody answers.
            ConfigurationError: it cannot be written here.
        """
        ...


class BackupStore(Protocol):
    """The backups of one tenant."""

    async def create(self, *, backup_id: str) -> Backup:
        """Backs up the tenant as it is now; returns the backup of that id if there is one."""
        ...

    async def list(self) -> tuple[Backup, ...]:
        """The complete backups, the newest first."""
        ...

    async def count_rows(self) -> dict[str, int]:
        """The number of rows of each table that a backup would have."""
        ...

    async def verify(self, backup_id: str) -> Backup:
        """Restores a backup into a scratch database, and compares it."""
        ...

    async def prune(self, *, keep: int) -> int:
        """Removes older backups than the newest so many, never the newest that was verified; returns how many."""
        ...
