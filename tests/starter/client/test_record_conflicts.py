"""Writes on a stale version: what the contract's conflict resolution makes of them."""

from datetime import timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient


async def opened(client: MnesticClient, resolution: str) -> ContractMemory:
    """The memory of Ada by a contract with this conflict resolution."""
    schema = {
        "schema_id": "plans",
        "backend": "main",
        "structure": {"not": {"required": ["red", "blue"]}},
    }
    long_term = {
        "enabled": True,
        "storage_backends": [{"backend_id": "main", "type": "postgres"}],
        "schemas": [schema],
        "sync": {"conflict_resolution": resolution},
    }
    await client.contracts().apply("ada", {"Memory": {"long_term": long_term}})
    return await client.contract("ada")


async def write_twice(memory: ContractMemory, *values: Any) -> tuple[Any, str | None]:
    """Writes a value, another, and a last one that follows the first; returns what is stored, and the conflict."""
    first, second, third = values
    base = await memory.persist("plans", "k", first)
    await memory.persist("plans", "k", second, expected_version=base.version)
    written = await memory.persist("plans", "k", third, expected_version=base.version)
    assert await memory.retrieve("plans", "k") == written.value
    return written.value, written.conflict_id


async def test_the_last_write_wins_by_default(client: MnesticClient) -> None:
    memory = await opened(client, "last_write")

    assert await write_twice(memory, {"a": 1}, {"a": 2}, {"a": 3}) == ({"a": 3}, None)


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ({"a": 2, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 3}),
        ({"a": 1}, {"a": 1, "b": 1, "c": 4}, {"a": 1, "c": 4}),
        ({"a": 5, "b": 1}, {"a": 5, "b": 2}, {"a": 5, "b": 2}),
        ({"a": True, "b": 1}, {"a": 1, "b": 2}, {"a": True, "b": 2}),
    ],
)
async def test_a_merge_takes_each_member_from_the_side_that_changed_it(
    client: MnesticClient, ours: Any, theirs: Any, merged: Any
) -> None:
    memory = await opened(client, "merge")

    assert await write_twice(memory, {"a": 1, "b": 1}, ours, theirs) == (merged, None)


@pytest.mark.parametrize(
    ("ours", "theirs", "fields"),
    [
        ({"a": {"x": 2, "y": 1}}, {"a": {"x": 3, "y": 1}}, ("a.x",)),
        ({}, {"a": {"x": 3, "y": 1}}, ("a",)),
        ({"a": {"x": 1, "y": 1}, "red": 1}, {"a": {"x": 1, "y": 1}, "blue": 1}, ("",)),
        ({"a": [1]}, {"a": [2]}, ("a",)),
    ],
)
async def test_what_cannot_be_merged_waits_and_the_record_stays(
    client: MnesticClient, ours: Any, theirs: Any, fields: tuple[str, ...]
) -> None:
    memory = await opened(client, "merge")

    value, conflict_id = await write_twice(memory, {"a": {"x": 1, "y": 1}}, ours, theirs)
    (conflict,), _ = await memory.list_conflicts("plans")

    assert value == ours
    assert (conflict.id, conflict.key, conflict.fields) == (conflict_id, "k", fields)
    assert (conflict.base_version, conflict.value) == (1, theirs)


async def test_a_person_resolves_a_conflict_once(client: MnesticClient, ada: MemoryClient) -> None:
    memory = await opened(client, "manual")
    _, first = await write_twice(memory, {"a": 1}, {"a": 2}, {"a": 3})
    second = (await memory.persist("plans", "k", {"a": 4}, expected_version=1)).conflict_id
    assert first is not None
    assert second is not None

    with pytest.raises(InvalidInputError):
        await memory.resolve_conflict("plans", first, {"red": 1, "blue": 1})
    resolved = await memory.resolve_conflict("plans", first, {"a": 9})
    await memory.drop_conflict("plans", second)

    assert resolved.value == await memory.retrieve("plans", "k") == {"a": 9}
    assert await memory.list_conflicts("plans") == ((), None)
    assert (await ada.records.list("~conflicts/plans"))[0] == ()
    with pytest.raises(NotFoundError, match="conflict of plans"):
        await memory.drop_conflict("plans", first)


async def test_a_write_that_others_made_by_any_door_can_be_merged_with(
    client: MnesticClient, ada: MemoryClient
) -> None:
    memory = await opened(client, "merge")
    base = await ada.records.set("plans", "k", {"a": 1, "b": 1})
    await ada.records.set("plans", "k", {"a": 2, "b": 1}, metadata={"source": "x"})

    merged = await memory.persist("plans", "k", {"a": 1, "b": 3}, expected_version=base.version)

    assert (merged.conflict_id, merged.value) == (None, {"a": 2, "b": 3})
    assert merged.metadata == {"source": "x"}


async def test_metadata_that_both_changed_is_a_conflict(client: MnesticClient) -> None:
    memory = await opened(client, "merge")
    base = await memory.persist("plans", "k", {})
    await memory.persist("plans", "k", {}, metadata={"source": "x"})

    written = await memory.persist(
        "plans", "k", {}, metadata={"source": "y"}, expected_version=base.version
    )
    (conflict,), _ = await memory.list_conflicts("plans")

    assert written.metadata == {"source": "x"}
    assert conflict.fields == ("$metadata.source",)


async def test_nothing_of_a_record_outlives_it_but_a_write_that_waits(
    client: MnesticClient, ada: MemoryClient
) -> None:
    memory = await opened(client, "merge")
    await memory.persist("plans", "k", {}, ttl=timedelta(minutes=1))
    await memory.persist("plans", "other", {})
    await memory.persist("plans", "k", {"a": 2}, ttl=timedelta(minutes=1), expected_version=0)

    of_key = {"where": {"field": "key", "value": "k"}}
    (waiting,), _ = await ada.records.list("~conflicts/plans")
    (version,), _ = await ada.records.query("~versions/plans", of_key)
    listed, _ = await ada.records.list()
    (agent,), _ = await client.list_agents()
    resolved = await memory.resolve_conflict("plans", waiting.key, {"a": 2})
    await ada.records.delete("plans", "k")
    left, _ = await ada.records.list("~versions/plans")

    assert ([one.key for one in listed], agent.records) == (["k", "other"], 2)
    for one in (waiting, version, resolved):
        assert one.expires_at == one.updated_at + timedelta(minutes=1)
    assert [one.value["key"] for one in left] == ["other"]


@pytest.mark.parametrize("namespace", ["~conflicts/plans", "~versions/plans"])
async def test_conflicts_and_versions_are_written_by_nobody_else(
    ada: MemoryClient, namespace: str
) -> None:
    with pytest.raises(InvalidInputError, match="Mnestic alone writes"):
        await ada.records.set(namespace, "k", "anything")
