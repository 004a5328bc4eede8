"""Eight processes share memory while they are killed and stopped for longer than their leases: the audit log tells who held what."""

import asyncio
import random
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.memory.sharing.shared_operations import SetSharedArguments
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.acceptance.processes import Processes, Running
from tests.acceptance.sharing_process import KEYS, SECRET, SPACE

pytestmark = pytest.mark.nightly

PROCESSES, STEPS, LEASE_MS = 8, 10_000, 300
PROGRAM = Path(__file__).parents[1] / "sharing_process.py"
SPACES = [
    {"namespace": SPACE, "access_level": "write", "agents_allowed": ["agent.*"]},
    {"namespace": SECRET, "access_level": "admin", "agents_allowed": ["keeper"]},
]
RULES = {"lock_strategy": "pessimistic", "lock_timeout_ms": LEASE_MS, "retry_count": 3}
DOCUMENT = {
    "Memory": {
        "shared": {
            "enabled": True,
            "namespaces": SPACES,
            "pubsub": {"enabled": True, "channels": [{"channel": "steps"}]},
            "coordination": RULES,
        }
    }
}


Rows = list[tuple[str, str, str | None]]


class Crowd:
    """The processes that run, and those that were killed."""

    def __init__(self, processes: Processes, environment: dict[str, str]) -> None:
        self._processes, self._environment = processes, environment
        self.all: list[Running] = []
        self.running: list[Running] = []
        self.killed: list[Running] = []

    def start(self) -> None:
        """Starts as many as there are to be, of which each does its part of the steps that are left."""
        for _ in range(PROCESSES - len(self.running)):
            name = f"agent.{len(self.all)}"
            steps = STEPS // PROCESSES
            one = self._processes.start(
                sys.executable, PROGRAM, name, str(steps), env=self._environment
            )
            self.all.append(one)
            self.running.append(one)

    def kill(self, one: Running) -> None:
        """Kills a process."""
        one.stop(signal.SIGKILL)
        self.running.remove(one)
        self.killed.append(one)

    @property
    def steps(self) -> int:
        """How many have been done."""
        return sum(one.out.count("step\n") for one in self.all)


async def test_processes_that_are_killed_and_stopped_never_write_at_once(
    client: MnesticClient,
    processes: Processes,
    environment: dict[str, str],
    admin_url: str,
) -> None:
    chance, crowd = random.Random(49), Crowd(processes, environment)
    contracts = client.contracts()
    await contracts.apply("*", DOCUMENT)
    keeper = await client.contract("keeper")
    for key in KEYS:
        await keeper.set_shared(SECRET, key, "secret")

    crowd.start()
    stops = kills = 0
    while crowd.steps < STEPS and crowd.running:
        await asyncio.sleep(chance.uniform(0.2, 1))
        one = chance.choice(crowd.running)
        if one.process.poll() is not None:
            crowd.running.remove(one)
        elif kills < stops / 2:
            crowd.kill(one)
            kills += 1
            crowd.start()
        else:
            one.process.send_signal(signal.SIGSTOP)
            # Three leases; one in ten longer than Postgres waits for a transaction that does nothing.
            await asyncio.sleep(LEASE_MS / 1000 * (3 if chance.random() < 0.9 else 20))
            one.process.send_signal(signal.SIGCONT)
            stops += 1
    for one in crowd.running:
        one.process.send_signal(signal.SIGTERM)
    codes = {one.until_over(60).code for one in crowd.all}

    assert crowd.steps >= STEPS
    assert codes <= {0, -signal.SIGKILL, -signal.SIGTERM}, [one.err for one in crowd.all]
    assert min(stops, kills) >= 5
    printed = [line for one in crowd.all for line in one.out.splitlines()]
    with psycopg.connect(admin_url) as connection:
        rows = connection.execute(
            "SELECT action, target, reason FROM mnestic.audit_log WHERE tenant_id = %s",
            [client.settings.tenant_id],
        ).fetchall()
    refused = {reason for _, _, reason in rows}
    assert refused >= {"refused: LockedError", "refused: LockLostError"}, "nothing was tried"
    memory = await client.contract("agent.test")
    for key in KEYS:
        acknowledged = {
            int(line.split()[2]) for line in printed if line.startswith(f"wrote {key} ")
        }
        check_locks(rows, key, (await memory.get_shared(SPACE, key)).value, acknowledged)
    reads = {
        reason
        for action, target, reason in rows
        if action == "memory.get_shared" and target.startswith(f"{SECRET}/")
    }
    assert reads == {"refused: AccessDeniedError"}
    await check_events(memory, rows, printed)


async def test_a_process_that_is_stopped_within_a_write_loses_it(client: MnesticClient) -> None:
    await client.contracts().apply("*", DOCUMENT)
    other = await client.contract("agent.other")
    caller = client_caller(
        client._memory, tenant_id=client.settings.tenant_id, agent_id="agent.stopped"
    )

    async def stop_within_a_write() -> None:
        async with caller(write=True) as transaction:
            write = SetSharedArguments(namespace=SPACE, key="a", value="stopped")
            await transaction.shared_memory.set(write)
            await other.set_shared(SPACE, "a", "other")  # once Postgres has ended that one

    with pytest.raises(DatabaseUnavailableError):
        await stop_within_a_write()
    record = await other.get_shared(SPACE, "a")

    assert (record.value, record.version) == ("other", 1)


async def check_events(memory: ContractMemory, rows: Rows, printed: list[str]) -> None:
    """That each event is there which was acknowledged, and no other than the audit log has."""
    events: list[ChannelEvent] = []
    while page := await memory.list_events("steps", after=len(events), limit=1000):
        events += page
    acknowledged = {line.split()[1] for line in printed if line.startswith("event ")}

    assert [event.number for event in events] == [*range(1, len(events) + 1)]
    assert acknowledged <= {event.id for event in events}
    assert len(events) == sum(row[::2] == ("event.publish", None) for row in rows)


def check_locks(rows: Rows, key: str, written: list[int], acknowledged: set[int]) -> None:
    """That one after the other held the lock of a key and wrote: each write adds the token of its lock to what it has read."""
    locked = sorted(_tokens_of(rows, "shared.lock", key))
    unlocked = {*_tokens_of(rows, "shared.unlock", key)}

    assert written == sorted({*written}), "a late holder has written"
    assert written == sorted(_tokens_of(rows, "shared.set", key)), "a write was lost"
    assert acknowledged <= {*written}, "a write was lost"
    assert locked == sorted({*locked}), "a token was given twice"
    assert all(
        earlier in unlocked or later - earlier >= LEASE_MS * 1000
        for earlier, later in pairwise(locked)  # tokens are microseconds of the clock
    ), "two held the lock"


def _tokens_of(rows: Rows, action: str, key: str) -> Iterator[int]:
    """The tokens of what was done with a key, of which the audit log has rows."""
    for did, target, reason in rows:
        if did == action and reason is None and target.startswith(f"{SPACE}/{key} under "):
            yield int(target.rpartition(" ")[2])
