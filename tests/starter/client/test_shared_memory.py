"""Shared memory: who may do what in a namespace, what a record says of itself, and that a key has one holder who writes."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import (
    AccessDeniedError,
    InvalidInputError,
    LockedError,
    LockLostError,
    NotFoundError,
    StaleVersionError,
)
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.mnestic_client import MnesticClient

SPACE = "seo:audit"
LEVELS = {"reader": "read", "writer": "write", "second": "write", "keeper": "admin"}


def document(strategy: str = "pessimistic", **more: Any) -> dict[str, Any]:
    """A contract for all agents; the namespace is granted to some of them by `granting`."""
    rules = {"lock_strategy": strategy, "lock_timeout_ms": 60_000, "retry_count": 0}
    return {"Memory": {"shared": {"enabled": True, "coordination": rules}, **more}}


def granting(grants: dict[str, str]) -> dict[str, Any]:
    """A contract that grants the namespace."""
    spaces = [
        {"namespace": f"{SPACE}", "access_level": level, "agents_allowed": [agent]}
        for agent, level in grants.items()
    ]
    return {"Memory": {"shared": {"enabled": True, "namespaces": spaces}}}


class Agents:
    """The memory of each agent by its contract."""

    def __init__(self, client: MnesticClient) -> None:
        self.client = client

    async def __call__(self, name: str, *, strategy: str = "pessimistic") -> ContractMemory:
        await self.client.contracts().apply(name, document(strategy))
        return await self.client.contract(name)


@pytest.fixture
async def agents(client: MnesticClient) -> Agents:
    for agent, level in LEVELS.items():
        await client.contracts().apply(f"of.{agent}", granting({agent: level}))
    return Agents(client)


async def test_a_shared_record_has_version_owner_and_an_end(agents: Agents) -> None:
    writer, second, reader = [await agents(name) for name in ("writer", "second", "reader")]

    first = await writer.set_shared(SPACE, "site-7", {"score": 41}, metadata={"source": "crawler"})
    later = await second.set_shared(SPACE, "site-7", {"score": 71}, ttl=timedelta(days=1))
    found = await reader.get_shared(SPACE, "site-7")

    assert (first.version, first.owner, first.metadata) == (1, "writer", {"source": "crawler"})
    assert (found.version, found.owner, found.value) == (2, "second", {"score": 71})
    assert found == later
    assert found.expires_at is not None
    assert found.expires_at - found.updated_at == timedelta(days=1)
    assert found.created_at == first.created_at


async def test_shared_records_are_listed_page_by_page_and_deleted(agents: Agents) -> None:
    writer = await agents("writer")
    for key in ("c", "a", "b"):
        await writer.set_shared(SPACE, key, key)

    first, cursor = await writer.list_shared(SPACE, limit=2)
    rest, none = await writer.list_shared(SPACE, cursor=cursor)
    await writer.delete_shared(SPACE, "a", expected_version=1)

    assert [record.key for record in (*first, *rest)] == ["a", "b", "c"]
    assert none is None
    assert [record.key for record in (await writer.list_shared(SPACE))[0]] == ["b", "c"]
    for call in (writer.get_shared, writer.delete_shared):
        with pytest.raises(NotFoundError, match="no shared record seo:audit/a"):
            await call(SPACE, "a")
    assert (await writer.set_shared(SPACE, "a", 1)).version == 3, "the version goes on"


Call = Callable[[ContractMemory], Awaitable[Any]]
CALLS: dict[str, list[Call]] = {
    "read": [
        lambda memory: memory.get_shared(SPACE, "k"),
        lambda memory: memory.list_shared(SPACE),
        lambda memory: memory.list_grants(SPACE),
    ],
    "write": [
        lambda memory: memory.set_shared(SPACE, "k", 1),
        lambda memory: memory.lock(SPACE, "other", timeout_ms=1)._take(),
        lambda memory: memory.operate("unlock", {"namespace": SPACE, "key": "k", "token": 1}),
        lambda memory: memory.delete_shared(SPACE, "gone"),
    ],
    "admin": [
        lambda memory: memory.grant(SPACE, "guest", "read"),
        lambda memory: memory.revoke(SPACE, "guest"),
    ],
}


@pytest.mark.parametrize("agent", [*LEVELS, "stranger"])
async def test_each_level_includes_the_former_and_no_other(agents: Agents, agent: str) -> None:
    memory, keeper = await agents(agent), await agents("keeper")
    may: list[str] = []

    for level, calls in CALLS.items():
        for call in calls:
            for key in ("k", "gone"):
                await keeper.set_shared(SPACE, key, 0)
            with suppress(AccessDeniedError):
                await call(memory)
                may.append(level)

    allowed = [*CALLS][: [None, *CALLS].index(LEVELS.get(agent))]
    assert may == [level for level in allowed for _ in CALLS[level]]


async def test_an_admin_grants_revokes_and_drops(agents: Agents) -> None:
    keeper, guest = await agents("keeper"), await agents("guest.one")
    await keeper.set_shared(SPACE, "k", 1)

    granted = await keeper.grant(SPACE, "guest.*", "read")
    seen = await guest.get_shared(SPACE, "k")
    grants = await guest.list_grants()
    taken = await keeper.revoke(SPACE, "guest.*")
    with pytest.raises(AccessDeniedError):
        await guest.get_shared(SPACE, "k")
    dropped = await keeper.drop_namespace(SPACE)

    assert (seen.value, granted.granted_by, taken, dropped) == (1, "agent/keeper", 1, 1)
    assert {(one.selector, one.level) for one in grants} == {*LEVELS.items(), ("guest.*", "read")}
    assert await keeper.list_grants() == ()
    with pytest.raises(AccessDeniedError):
        await keeper.get_shared(SPACE, "k")


async def test_grants_follow_the_versions_of_their_contract(agents: Agents) -> None:
    contracts, memory = agents.client.contracts(), await agents("guest")

    await contracts.apply("*", granting({"guest": "write"}))
    await memory.set_shared(SPACE, "k", 1)
    await contracts.apply("*", granting({"guest": "read"}))
    with pytest.raises(AccessDeniedError, match="which takes write; it is allowed: read"):
        await memory.set_shared(SPACE, "k", 2)
    await contracts.rollback("*", 1)
    await memory.set_shared(SPACE, "k", 3)
    await contracts.remove("*")

    with pytest.raises(AccessDeniedError, match="it is allowed: none"):
        await memory.get_shared(SPACE, "k")


async def test_a_schema_of_that_name_is_the_rule_of_a_value(agents: Agents) -> None:
    structure = {"properties": {"score": {"type": "number"}}}
    schema = {"schema_id": SPACE, "backend": "main", "structure": structure, "ttl_days": 2}
    backends = [{"backend_id": "main", "type": "postgres"}]
    long_term = {"enabled": True, "storage_backends": backends, "schemas": [schema]}
    await agents.client.contracts().apply("writer", document(long_term=long_term))
    writer = await agents.client.contract("writer")

    record = await writer.set_shared(SPACE, "k", {"score": 1})

    assert record.expires_at is not None
    assert record.expires_at - record.updated_at == timedelta(days=2)
    with pytest.raises(InvalidInputError, match=r"value.score.*number"):
        await writer.set_shared(SPACE, "k", {"score": "much"})


async def test_what_is_shared_is_no_record_of_an_agent(agents: Agents) -> None:
    writer = await agents("writer")
    await writer.set_shared(SPACE, "k", 1)
    records = agents.client.memory("writer").records

    assert await records.list() == ((), None)
    for call in (
        records.get("~shared/seo:audit", "k"),
        records.set("~shared/seo:audit", "k", 2),
        records.delete("~shared/seo:audit", "k"),
        records.list("~shared/seo:audit"),
        records.query("~shared/seo:audit"),
    ):
        with pytest.raises(InvalidInputError, match="is of shared memory; use get_shared"):
            await call


async def test_a_lease_lets_its_holder_write_and_nobody_else(agents: Agents) -> None:
    writer, second = await agents("writer"), await agents("second")

    async with writer.lock(SPACE, "k") as held:
        written = [(await held.set(number)).version for number in (1, 2)]
        for refused in (
            second.set_shared(SPACE, "k", 3),
            writer.set_shared(SPACE, "k", 3),
            second.delete_shared(SPACE, "k"),
            second.lock(SPACE, "k")._take(),
            (await agents("keeper")).drop_namespace(SPACE),
        ):
            with pytest.raises(LockedError, match="seo:audit/k is locked by agent writer until"):
                await refused
        with pytest.raises(LockLostError):
            await second.set_shared(SPACE, "k", 3, token=held.lock.token)
        await second.set_shared(SPACE, "other", 1)

    assert written == [1, 2]
    assert (await second.set_shared(SPACE, "k", 3)).version == 3
    with pytest.raises(LockLostError, match="lock it again, read, and repeat the change"):
        await held.set(4)
    assert await held.release() is False


async def test_a_lease_that_has_run_out_is_taken_by_another_and_its_token_refused(
    agents: Agents, admin_url: str
) -> None:
    writer, second = await agents("writer"), await agents("second")
    late = await writer.lock(SPACE, "k")
    with psycopg.connect(admin_url) as connection:  # as the clock does, or a jump of it
        connection.execute(
            "UPDATE mnestic.lease SET expires_at = clock_timestamp(), token = token + 10 ^ 15"
            " WHERE tenant_id = %s",
            [agents.client.settings.tenant_id],
        )

    with pytest.raises(LockLostError):
        await late.set("late")
    taken = await second.lock(SPACE, "k")
    await taken.set("second")

    assert late.lock.token is not None
    assert taken.lock.token is not None
    assert taken.lock.token > late.lock.token + 10**15
    assert taken.lock.expires_at is not None
    assert taken.lock.expires_at - taken.lock.acquired_at == timedelta(minutes=1)
    with pytest.raises(LockLostError):
        await late.set("later")


async def test_of_many_that_lock_at_once_one_after_the_other_holds_the_lock(agents: Agents) -> None:
    rules = {"lock_strategy": "pessimistic", "lock_timeout_ms": 60_000, "retry_count": 100}
    shared = {"Memory": {"shared": {"enabled": True, "coordination": rules}}}
    await agents.client.contracts().apply("writer", shared)
    writer = await agents.client.contract("writer")
    holders: list[int] = []

    async def count(_: int) -> None:
        async with writer.lock(SPACE, "k") as held:
            holders.append(held.lock.token or 0)
            found = (await writer.get_shared(SPACE, "k")).value if len(holders) > 1 else 0
            await held.set(found + 1)

    await asyncio.gather(*map(count, range(8)))

    assert (await writer.get_shared(SPACE, "k")).value == 8
    assert holders == sorted({*holders})


async def test_who_loses_its_grant_while_it_holds_a_lock_ends_it_and_writes_no_more(
    agents: Agents,
) -> None:
    keeper, guest = await agents("keeper"), await agents("guest.one")
    await keeper.grant(SPACE, "guest.*", "write")

    async with guest.lock(SPACE, "k", timeout_ms=600_000) as lock:
        await keeper.revoke(SPACE, "guest.*")
        with pytest.raises(AccessDeniedError):
            await lock.set(1)

    assert (await keeper.set_shared(SPACE, "k", 2)).value == 2
    with pytest.raises(AccessDeniedError):
        await lock.release()


async def test_a_time_to_live_that_is_none_is_refused(agents: Agents) -> None:
    writer: Any = await agents("writer")

    for write in (writer.set_shared, writer.persist):
        with pytest.raises(InvalidInputError, match="ttl: is 5; give a timedelta"):
            await write(SPACE, "k", 1, ttl=5)


@pytest.mark.parametrize("timeout_ms", [0, -1, None, 600_001, "5000", 2.5, True])
async def test_a_lock_without_a_timeout_is_refused(agents: Agents, timeout_ms: Any) -> None:
    writer = await agents("writer")

    with pytest.raises(InvalidInputError, match="timeout_ms"):
        await writer.lock(SPACE, "k", timeout_ms=timeout_ms)


async def test_an_optimistic_lock_refuses_who_comes_second(agents: Agents) -> None:
    writer, second = [await agents(name, strategy="optimistic") for name in ("writer", "second")]

    async with writer.lock(SPACE, "k") as one, second.lock(SPACE, "k") as other:
        await other.set("second")
        with pytest.raises(StaleVersionError, match="expected version 0"):
            await one.set("first")
        await other.set("second again")

    assert (one.lock.token, one.lock.expires_at, other.lock.version) == (None, None, 2)
    assert (await writer.get_shared(SPACE, "k")).value == "second again"


async def test_without_a_strategy_the_last_write_stands(agents: Agents) -> None:
    writer, second = [await agents(name, strategy="none") for name in ("writer", "second")]

    async with writer.lock(SPACE, "k") as one, second.lock(SPACE, "k") as other:
        await other.set("second")
        await one.set("first")

    assert (await writer.get_shared(SPACE, "k")).value == "first"


async def test_what_others_read_is_there_before_the_event_that_tells_of_it(agents: Agents) -> None:
    channels = {"pubsub": {"enabled": True, "channels": [{"channel": "news"}]}}
    shared = {"enabled": True, **channels}
    for name in ("writer", "reader"):
        await agents.client.contracts().apply(name, {"Memory": {"shared": shared}})
    writer, reader = [await agents.client.contract(name) for name in ("writer", "reader")]
    seen: list[int] = []

    async def look(event: Any) -> None:
        seen.append((await reader.get_shared(SPACE, "k")).version - event.payload["version"])
        if len(seen) == 5:
            raise TimeoutError

    reading = asyncio.create_task(reader.subscribe("news", look, after=0))
    for number in range(5):
        record = await writer.set_shared(SPACE, "k", number)
        await writer.publish("news", {"version": record.version})
    with pytest.raises(TimeoutError):
        await reading

    assert min(seen) >= 0, "an event is seen no earlier than what it tells of"
