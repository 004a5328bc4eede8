"""Counts the demo's rows in the database, and compares them with the rows that its input requires.

It stands apart from the demo and from the stores, so that a write that was lost or doubled cannot
also be lost or doubled in the count: plain SQL over the tables, without the ledger.
"""

from collections import Counter
from collections.abc import Sequence

import psycopg
from pydantic import BaseModel, ConfigDict

from mnestic.activities.jobs.conversations import PEOPLE, SESSIONS
from mnestic.memory.knowledge.conversations import ConversationSession

Identity = tuple[str, ...]

_FOUND = """
SELECT 'message', message ->> 'id', ''
  FROM mnestic.working_memory, json_array_elements(state -> 'messages') AS message
 WHERE agent_id = %(agent)s
UNION ALL
SELECT 'episode', COALESCE(payload ->> 'conversation', payload ->> 'plan'), ''
  FROM mnestic.episode WHERE agent_id = %(agent)s
UNION ALL
SELECT 'record', namespace || '/' || key, write::text
  FROM mnestic.long_term_record, generate_series(1, version) AS write
 WHERE agent_id = %(agent)s
UNION ALL
SELECT 'resource', session_id || '/' || source_id, ''
  FROM mnestic.resource WHERE agent_id = %(agent)s
UNION ALL
SELECT 'tool call', row_number() OVER ()::text, ''
  FROM mnestic.working_memory, json_array_elements(state -> 'tool_calls')
 WHERE agent_id = %(agent)s
UNION ALL
SELECT 'wait', wait_id, '' FROM mnestic.job_wait WHERE agent_id = %(agent)s
UNION ALL
SELECT 'snapshot', row_number() OVER ()::text, ''
  FROM mnestic.memory_snapshot WHERE agent_id = %(agent)s
"""

_SNAPSHOTS = """
SELECT s.sha256, octet_length(s.body), encode(sha256(s.body), 'hex') = s.sha256
       AND w.receipt ->> 'snapshot_sha256' = s.sha256, w.state
  FROM mnestic.job_wait AS w JOIN mnestic.memory_snapshot AS s
    ON s.tenant_id = w.tenant_id AND s.id = w.snapshot_id
 WHERE w.agent_id = %(agent)s AND w.job_id = %(job)s
 ORDER BY w.opened_at
"""


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
    parameters = {"agent": agent_id, "job": job_id}
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(
            "SELECT set_config('role', 'mnestic_app', true), "
            "set_config('mnestic.tenant_id', %s, true)",
            (tenant_id,),
        )
        written_keys = Counter(await (await connection.execute(_FOUND, parameters)).fetchall())
        snapshots = await (await connection.execute(_SNAPSHOTS, parameters)).fetchall()
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
