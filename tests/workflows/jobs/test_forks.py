"""A job that begins at a wait of another, with the memory of that time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from mnestic.memory.errors import (
    AlreadyExistsError,
    InvalidInputError,
    JobFailedError,
    NotFoundError,
)
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

StartWaiting = Callable[..., Awaitable[str]]
Until = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[Any]]
Rows = Callable[[], dict[str, set[str]]]
pytestmark = pytest.mark.usefixtures("worker")


# What learning from messages writes, beside its own audit rows.
LEARNED = frozenset(
    """
    agent_revision category claim corpus embedding embedding_model entry entry_term fact graph_edge ingest_state lexeme memory_event posting
    """.split()  # noqa: SIM905
)


@pytest.fixture
def rows(admin_url: str, client: MnesticClient) -> Rows:
    """The tenant's rows in every table but the counter of revisions, which is the agent's.

    What was told is learned from meanwhile, so that messages' entries and their states may change.
    """

    def read() -> dict[str, set[str]]:
        found = {}
        with psycopg.connect(admin_url) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.columns"
                " WHERE table_schema = 'mnestic' AND column_name = 'tenant_id'"
            ).fetchall()
            for (table,) in tables:
                query = sql.SQL("SELECT to_jsonb(t)::text FROM mnestic.{} t WHERE tenant_id = %s")
                asked = query.format(sql.Identifier(table))
                told = connection.execute(asked, [client.settings.tenant_id]).fetchall()
                found[table] = {row for (row,) in told}
        found["audit_log"] = {row for row in found["audit_log"] if '"actor": "learning"' not in row}
        return {name: found[name] for name in found.keys() - LEARNED}

    return read


@pytest.fixture
def fork(client: MnesticClient, until: Until) -> Callable[..., Awaitable[str]]:
    """Forks a job and returns the new id once it waits."""

    async def start(job_id: str, **asked: Any) -> str:
        forked = await client.fork_job(job_id, **asked)

        async def parked() -> bool:
            return (await client.describe_job(forked)).state == "waiting"

        await until(parked)
        return forked

    return start


async def ended(client: MnesticClient, job_id: str, word: str) -> list[str]:
    """What is said in the job's session once it was resumed with a word."""
    await client.resume_job(job_id, {"word": word})
    await client.wait_for_result(job_id)
    return await said(client, (await client.describe_job(job_id)).session_id)


async def said(client: MnesticClient, session_id: str) -> list[str]:
    state = await client.memory("ada").working_memory.get(session_id)
    return [message.content for message in state.messages]


async def test_a_fork_of_a_finished_job_begins_at_its_wait_with_the_memory_of_then(
    client: MnesticClient, start_waiting: StartWaiting, fork: Callable[..., Awaitable[str]]
) -> None:
    job_id = await start_waiting()
    await ended(client, job_id, "dear")

    forked = await fork(job_id, session_id="s2")

    job = await client.describe_job(forked)
    assert [wait.wait_id for wait in job.waits] == [f"{forked}/w1"]
    assert await said(client, "s2") == ["My name is Mara."]
    assert await ended(client, forked, "old friend") == [
        "My name is Mara.",
        "Hello old friend, Mara.",
    ]


async def test_a_fork_leaves_the_job_alone_in_every_table(
    client: MnesticClient,
    start_waiting: StartWaiting,
    fork: Callable[..., Awaitable[str]],
    rows: Rows,
) -> None:
    job_id = await start_waiting()
    before = rows()

    await ended(client, await fork(job_id), "friend")
    after = rows()

    changed = {table: before[table] - after[table] for table in before}
    assert {table: gone for table, gone in changed.items() if gone} == {}
    assert await ended(client, job_id, "dear") == ["My name is Mara.", "Hello dear, Mara."]


async def test_a_fork_of_a_failed_job_may_do_better(
    client: MnesticClient, start_waiting: StartWaiting, fork: Callable[..., Awaitable[str]]
) -> None:
    job_id = await start_waiting()
    await client.resume_job(job_id, {"wrong": "payload"})
    with pytest.raises(JobFailedError, match="node say failed"):
        await client.wait_for_result(job_id)

    forked = await fork(job_id)

    assert (await ended(client, forked, "dear"))[-1] == "Hello dear, Mara."


async def test_a_fork_is_told_what_has_changed_since_the_wait_that_it_comes_from(
    client: MnesticClient, start_waiting: StartWaiting, fork: Callable[..., Awaitable[str]]
) -> None:
    job_id = await start_waiting()
    await client.memory("ada").records.set("profile", "name", "Maria")

    forked = await fork(job_id, session_id="s2")
    await ended(client, forked, "dear")

    state = await client.memory("ada").working_memory.get("s2")
    assert [(told["before"], told["now"]) for told in state.variables["drift"]] == [
        ("Mara", "Maria")
    ]


async def test_a_fork_may_go_on_by_another_plan(
    client: MnesticClient,
    start_waiting: StartWaiting,
    fork: Callable[..., Awaitable[str]],
    greeting: str,
) -> None:
    job_id = await start_waiting()
    other = parse_plan(greeting.replace("Hello", "Good day"), source="test")

    forked = await fork(job_id, plan=other)

    assert (await ended(client, forked, "dear"))[-1] == "Good day dear, Mara."


@pytest.mark.parametrize(("asked", "level"), [({}, 2), ({"priority": 5}, 5)])
async def test_a_fork_has_the_jobs_priority_unless_it_is_given_one(
    client: MnesticClient,
    handle_of: Callable[[str], Any],
    greeting: str,
    fork: Callable[..., Awaitable[str]],
    until: Until,
    asked: dict[str, int],
    level: int,
) -> None:
    plan = parse_plan(greeting, source="test")
    job_id = await client.start_job(
        plan, agent_id="ada", session_id="s1", inputs={"name": "Mara"}, priority=2
    )

    async def parked() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(parked)
    forked = await fork(job_id, **asked)

    found = await handle_of(forked).describe()
    priority = found.raw_description.workflow_execution_info.priority
    assert (priority.priority_key, priority.fairness_key) == (level, client.settings.tenant_id)


async def test_a_fork_of_a_fork_begins_with_the_same_memory(
    client: MnesticClient, start_waiting: StartWaiting, fork: Callable[..., Awaitable[str]]
) -> None:
    job_id = await start_waiting()
    first = await fork(job_id)
    await ended(client, first, "first")

    second = await fork(first, as_job="grandchild", session_id="s3")

    job = await client.describe_job(second)
    assert (second, job.forked_from) == ("grandchild", f"{first}/w1")
    assert await ended(client, second, "second") == ["My name is Mara.", "Hello second, Mara."]


async def test_a_fork_names_the_wait_it_comes_from_in_every_run(
    client: MnesticClient,
    start_waiting: StartWaiting,
    fork: Callable[..., Awaitable[str]],
    handle_of: Callable[[str], Any],
    until: Until,
) -> None:
    job_id = await start_waiting()
    forked = await fork(job_id)
    first = await handle_of(forked).describe()

    await client.poke_job(forked)

    async def moved() -> bool:
        return bool((await handle_of(forked).describe()).run_id != first.run_id)

    await until(moved)
    memo = await (await handle_of(forked).describe()).memo()
    assert (await first.memo())["forked_from"] == memo["forked_from"] == f"{job_id}/w1"
    assert (await client.describe_job(forked)).forked_from == f"{job_id}/w1"


@pytest.mark.parametrize(
    ("wait", "why"),
    [
        (2, "wait 2: does not exist; job .* has one wait, 1"),
        (0, "wait 0: does not exist"),
        ("other/w1", "wait other/w1: is not a wait of job"),
        ("w1", "wait w1: is not a wait of job"),
    ],
)
async def test_a_fork_at_a_wait_that_is_not_the_jobs_is_refused(
    client: MnesticClient,
    start_waiting: StartWaiting,
    wait: int | str,
    why: str,
) -> None:
    job_id = await start_waiting()

    with pytest.raises(InvalidInputError, match=why):
        await client.fork_job(job_id, wait=wait)


async def test_a_fork_by_a_plan_without_the_wait_is_refused(
    client: MnesticClient, start_waiting: StartWaiting, loop: str
) -> None:
    job_id = await start_waiting()

    with pytest.raises(InvalidInputError, match="has no wait 'approval'"):
        await client.fork_job(job_id, plan=parse_plan(loop, source="test"))


async def test_a_fork_by_a_plan_that_needs_more_inputs_ahead_is_refused(
    client: MnesticClient, start_waiting: StartWaiting, greeting: str
) -> None:
    job_id = await start_waiting()
    ahead = greeting.replace("Hello", "${input.tone}")

    with pytest.raises(InvalidInputError, match=r"none is given for \$\{input.tone\} in "):
        await client.fork_job(job_id, plan=parse_plan(ahead, source="test"))


async def test_a_fork_into_a_session_that_has_memory_is_refused(
    client: MnesticClient, start_waiting: StartWaiting, rows: Rows
) -> None:
    job_id = await start_waiting()
    before = rows()

    with pytest.raises(AlreadyExistsError, match="working memory of session s1 exists already"):
        await client.fork_job(job_id, session_id="s1", as_job="forked")

    assert rows() == before
    with pytest.raises(NotFoundError, match="no job forked"):
        await client.describe_job("forked")


async def test_a_fork_of_a_snapshot_that_is_corrupted_fails_and_says_so(
    client: MnesticClient, start_waiting: StartWaiting, rot: Callable[[], None]
) -> None:
    job_id = await start_waiting()
    rot()

    forked = await client.fork_job(job_id, session_id="s2")
    with pytest.raises(JobFailedError, match="corrupted"):
        await client.wait_for_result(forked)

    assert await said(client, "s2") == []


async def test_of_two_clients_that_fork_to_one_id_at_once_one_wins(
    client: MnesticClient, start_waiting: StartWaiting, until_state: UntilState, rows: Rows
) -> None:
    job_id = await start_waiting()
    before = rows()

    async with await MnesticClient.connect(client.settings) as other:
        for number in range(5):
            new = f"fork-{number}"
            outcomes = await asyncio.gather(
                *(each.fork_job(job_id, as_job=new) for each in (client, other)),
                return_exceptions=True,
            )
            assert sorted(str(outcome) for outcome in outcomes) == [
                new,
                f"job {new} exists already",
            ]
            assert any(isinstance(outcome, AlreadyExistsError) for outcome in outcomes)
            job = await until_state(new, "waiting")
            assert [wait.wait_id for wait in job.waits] == [f"{new}/w1"]
            assert await said(client, new) == ["My name is Mara."]

    after = rows()
    grown = {table: len(after[table]) - len(before[table]) for table in before}
    made = ("working_memory", "memory_snapshot", "job_wait")
    assert {table: grown[table] for table in made} == dict.fromkeys(made, 5)
    assert grown["operation"] == 10  # of each: the fork, and the opening of its wait
