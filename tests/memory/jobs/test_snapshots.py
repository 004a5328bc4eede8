import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import SchemaVersionError, SnapshotCorruptedError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.snapshots import (
    Drift,
    MemorySnapshot,
    compare,
    newer_episodes,
    seal,
    unseal,
)
from mnestic.memory.jobs.working_memory import Message, WorkingMemory, WorkingRef
from tests.memory.tables import tables, wrong

CASES = tables(__file__)
STORED = Path(__file__).parent / "snapshots"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SNAPSHOT = MemorySnapshot(
    working_memory=WorkingMemory(
        version=4,
        messages=(Message(id="m1", role="user", content="Grüße 🙂", at=NOON, speaker="Mara"),),
        variables={"n": 1.25, "deep": {"list": [None, True]}},
    ),
    episodic_tail=(Episode(id="e1", agent_id="ada", summary="met Mara", created_at=NOON),),
    read_set=(ReadRecord(namespace="p", key="name", version=2, value="Mara"),),
    snapshot_at=NOON,
)
BODY, SHA256 = seal(SNAPSHOT.parts)
HEAD = unseal(BODY, snapshot_id="n1", sha256=SHA256).head
WORKING = HEAD.working


def record(key: str, version: int) -> LongTermRecord:
    return LongTermRecord(
        namespace="p", key=key, value="v", version=version, created_at=NOON, updated_at=NOON
    )


def test_a_sealed_snapshot_is_read_as_it_was() -> None:
    found = unseal(BODY, snapshot_id="n1", sha256=SHA256)

    assert found.read() == SNAPSHOT
    assert found.head.working == SNAPSHOT.working_memory.document().ref
    assert seal(found.read().parts) == (BODY, SHA256)
    assert canonical_json(json.loads(BODY)) == BODY
    assert found.tail() == SNAPSHOT.episodic_tail
    assert [each.id for each in found.head.episodic_tail] == ["e1"]


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255))
def test_any_changed_byte_is_found_out_and_both_hashes_are_told(place: int, change: int) -> None:
    forged = bytearray(BODY)
    forged[place] ^= change

    with pytest.raises(SnapshotCorruptedError, match=f"n1.*{SHA256}") as caught:
        unseal(bytes(forged), snapshot_id="n1", sha256=SHA256)

    assert sha256_hex(bytes(forged)) in str(caught.value)


@pytest.mark.parametrize(("name", "sha256", "messages", "reads"), CASES["stored"])
def test_a_stored_snapshot_of_an_older_version_is_read(
    name: str, sha256: str, messages: int, reads: int
) -> None:
    body = (STORED / f"{name}.json").read_bytes()

    sealed = unseal(body, snapshot_id=name, sha256=sha256)
    found = sealed.read()

    assert sealed.head.working == found.working_memory.document().ref
    assert found.schema_version == int(name.partition("-")[0])
    assert len(found.working_memory.messages) == messages
    assert len(found.read_set) == reads
    assert not any(read.pinned for read in found.read_set)
    assert json.loads(seal(found.parts)[0])["read_set"][0]["pinned"] is False


def test_a_newer_form_is_refused_and_says_what_to_do() -> None:
    body = canonical_json({"schema_version": 99, "anything": "else"})

    with pytest.raises(SchemaVersionError, match=r"snapshot 99.*worker"):
        unseal(body, snapshot_id="n1", sha256=sha256_hex(body))


def test_what_changed_in_a_record_is_told() -> None:
    name = ("p", "k")

    def drift(version: int, value: Any, now: list[Any] | None) -> list[Drift]:
        read = ReadRecord(namespace="p", key="k", version=version, value=value)
        memory = MemorySnapshot(working_memory=WorkingMemory(), read_set=(read,), snapshot_at=NOON)
        body, sha256 = seal(memory.parts)
        head = unseal(body, snapshot_id="n1", sha256=sha256).head
        records = {name: record("k", now[0])} if now and now[1] else {}
        versions = {name: now[0]} if now else {}
        return [*compare(head, working=head.working, records=records, versions=versions)]

    rows = [
        (version, value, now, [change_of(kind, version, now[0] if now else 0)] if kind else [])
        for version, value, now, kind in CASES["records"]
    ]
    assert wrong(rows, drift) == []


def change_of(kind: Any, before: int, now: int) -> Drift:
    return Drift(kind=kind, namespace="p", key="k", snapshot_version=before, current_version=now)


@pytest.mark.parametrize(
    ("working", "changed"),
    [
        (WORKING, []),
        (replace(WORKING, version=9), []),  # another job has begun to wait in the session
        (WorkingRef(version=4, sha256="0" * 64), [("changed", "", "working_memory", 4, 4)]),
        (WorkingRef(version=0, sha256="0" * 64), [("changed", "", "working_memory", 4, 0)]),
    ],
)
def test_working_memory_in_another_state_is_told_whatever_its_version(
    working: WorkingRef, changed: list[tuple[str, str, str, int, int]]
) -> None:
    name = ("p", "name")

    drift = compare(HEAD, working=working, records={name: record("name", 2)}, versions={name: 2})

    assert [
        (one.kind, one.namespace, one.key, one.snapshot_version, one.current_version)
        for one in drift
    ] == changed


def episodes(*hours: int) -> tuple[Episode, ...]:
    return tuple(
        Episode(
            id=f"e{hour}",
            agent_id="ada",
            summary=f"At {hour}.",
            created_at=NOON + timedelta(hours=hour),
        )
        for hour in hours
    )


def test_an_episode_that_was_not_sealed_is_newer() -> None:
    now = episodes(4, 3, 2, 1)
    late = episodes(3, 2, 1)  # of which the second committed after the first

    assert newer_episodes(episodes(2, 1), now, full=20) == episodes(4, 3)
    assert newer_episodes((), now, full=20) == now
    assert newer_episodes(now, now, full=20) == ()
    assert newer_episodes(episodes(3, 1), late, full=20) == episodes(2)
    assert newer_episodes(episodes(4, 3), episodes(5, 4, 2), full=2) == episodes(5)
