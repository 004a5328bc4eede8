"""Counts the demo's rows in the database, and compares them with the rows that its input requires.

A write that was lost or doubled cannot also be lost or doubled in the count: it is plain SQL over the tables, without
the ledger.
"""

from collections import Counter
from collections.abc import Sequence

from psycopg import AsyncConnection, AsyncRawCursor
from pydantic import BaseModel, ConfigDict

from mnestic.activities.jobs.conversations import PEOPLE, SESSIONS
from mnestic.starter.importers.turns import ConversationSession
from mnestic.stores.postgres.queries import read_query

Identity = tuple[str, ...]

_SET_READER = read_query("transaction_setup.set_reader")
_LIST_WRITES, _LIST_SNAPSHOTS = read_query("demo.list_writes"), read_query("demo.list_snapshots")


class StoredSnapshot(BaseModel):
    """A stored snapshot."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    bytes: int


class Count(BaseModel):
    """The counts."""

    model_config = ConfigDict(frozen=True)

    expected: int
    present: int
    duplicated: int
    waits: int
    resumed: int
    verified: int
    snapshots: tuple[StoredSnapshot, ...]


async def count_writes(
    url: str,
    *,
    tenant_id: str,
    agent_id: str,
    job_id: str,
    sessions: Sequence[ConversationSession],
) -> Count:
    """Counts every write of the demo's agent, each by its identity."""
    values = {"tenant_id": tenant_id, "agent_id": agent_id, "job_id": job_id}
    async with await AsyncConnection.connect(url, cursor_factory=AsyncRawCursor) as connection:
        await connection.execute(*_SET_READER.bind(values))
        writes = await (await connection.execute(*_LIST_WRITES.bind(values))).fetchall()
        snapshots = await (await connection.execute(*_LIST_SNAPSHOTS.bind(values))).fetchall()
    written_keys = Counter(writes)
    expected = Counter(_expected(sessions, job_id))
    return Count(
        expected=expected.total(),
        present=(written_keys & expected).total(),
        duplicated=(written_keys - expected).total(),
        waits=sum(1 for kind, *_ in written_keys if kind == "wait"),
        resumed=sum(1 for *_, state in snapshots if state == "resumed"),
        verified=sum(1 for *_, verified, _ in snapshots if verified),
        snapshots=tuple(StoredSnapshot(sha256=row[0], bytes=row[1]) for row in snapshots),
    )


def _expected(sessions: Sequence[ConversationSession], job_id: str) -> list[Identity]:
    """Every write that the plan makes of these sessions, and those of the second job."""
    writes: list[Identity] = []
    records: Counter[str] = Counter()
    for number, session in enumerate(sessions, start=1):
        writes.append(("tool call", str(number), ""))
        writes += [("message", turn.id, "") for turn in session.turns]
        writes += [("resource", f"{session.id}/{turn.id}", "") for turn in session.turns]
        writes.append(("episode", session.id, ""))
        records[f"{SESSIONS}/{session.id}"] += 1
        records.update(f"{PEOPLE}/{name}" for name in {turn.speaker for turn in session.turns})
    writes.append(("episode", "read-a-conversation", ""))
    waits = len(sessions) - 1
    writes += [("wait", f"{job_id}/w{number}", "") for number in range(1, waits + 1)]
    writes += [("snapshot", str(number), "") for number in range(1, waits + 1)]
    if waits:
        records[f"{PEOPLE}/{sessions[0].turns[0].speaker}"] += 1
        writes.append(("episode", "learn-something", ""))
    for name, times in records.items():
        writes += [("record", name, str(number)) for number in range(1, times + 1)]
    return writes
