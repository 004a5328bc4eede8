"""A job that begins at a wait of another, with the memory of that time."""

from collections.abc import Callable
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
from tests.workflows.conftest import GREETING, LOOP, Jobs

Rows = Callable[[], dict[str, set[str]]]
pytestmark = pytest.mark.usefixtures("worker")


# What learning from messages writes, beside its own audit rows.
LEARNED = frozenset(
    """
    agent_revision category claim corpus embedding embedding_model entry entry_term fact graph_edge ingest_state memory_event posting
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


async def fork(jobs: Jobs, job_id: str, **asked: Any) -> str:
    """Forks a job and returns the new id once it waits."""
    forked = await jobs.fork_job(job_id, **asked)
    await jobs.until_state(forked, "waiting")
    return forked


async def ended(jobs: Jobs, job_id: str, word: str) -> list[str]:
    """What is said in the job's session once it was resumed with a word."""
    await jobs.resume_job(job_id, {"word": word})
    await jobs.wait_for_result(job_id)
    return await jobs.texts((await jobs.describe_job(job_id)).session_id)


async def test_a_fork_begins_at_its_wait_with_the_memory_of_then_and_may_have_another_plan(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start_waiting()
    await jobs.resume_job(job_id, {"wrong": "payload"})
    with pytest.raises(JobFailedError, match="node say failed"):
        await jobs.wait_for_result(job_id)
    await jobs.memory("ada").records.set("profile", "name", "Maria")
    other = parse_plan(GREETING.replace("Hello", "Good day"), source="test")

    forked = await fork(jobs, job_id, session_id="s2", plan=other)
    before = await jobs.texts("s2")
    after = await ended(jobs, forked, "old friend")

    state = await jobs.memory("ada").working_memory.get("s2")
    assert [wait.wait_id for wait in await jobs.waits(forked)] == [f"{forked}/w1"]
    assert before == ["My name is Mara."]
    assert after == ["My name is Mara.", "Good day old friend, Mara."]
    drift = [(told["before"], told["now"]) for told in state.variables["drift"]]
    assert drift == [("Mara", "Maria")]


async def test_a_fork_leaves_the_job_alone_in_every_table(jobs: Jobs, rows: Rows) -> None:
    job_id = await jobs.start_waiting()
    before = rows()

    await ended(jobs, await fork(jobs, job_id), "friend")
    after = rows()

    changed = {table: before[table] - after[table] for table in before}
    assert {table: gone for table, gone in changed.items() if gone} == {}
    assert await ended(jobs, job_id, "dear") == ["My name is Mara.", "Hello dear, Mara."]


async def test_a_fork_that_cannot_be_is_refused_and_leaves_nothing(jobs: Jobs, rows: Rows) -> None:
    job_id = await jobs.start_waiting()
    ahead = parse_plan(GREETING.replace("Hello", "${input.tone}"), source="test")
    refused: dict[str, dict[str, Any]] = {
        "wait 2: does not exist; job .* has one wait, 1": {"wait": 2},
        "wait 0: does not exist": {"wait": 0},
        "wait other/w1: is not a wait of job": {"wait": "other/w1"},
        "has no wait 'approval'": {"plan": parse_plan(LOOP, source="test")},
        r"none is given for \$\{input.tone\} in ": {"plan": ahead},
    }

    for why, asked in refused.items():
        with pytest.raises(InvalidInputError, match=why):
            await jobs.fork_job(job_id, as_job="forked", **asked)
    before = rows()
    with pytest.raises(AlreadyExistsError, match="working memory of session s1 exists already"):
        await jobs.fork_job(job_id, session_id="s1", as_job="forked")

    after = rows()
    refusals = after["audit_log"] - before["audit_log"]
    assert after | {"audit_log": before["audit_log"]} == before
    assert all('"reason": "refused: AlreadyExistsError"' in row for row in refusals)
    with pytest.raises(NotFoundError, match="no job forked"):
        await jobs.describe_job("forked")


async def test_a_fork_of_a_snapshot_that_is_corrupted_fails_and_says_so(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting()
    jobs.rot()

    forked = await jobs.fork_job(job_id, session_id="s2")
    with pytest.raises(JobFailedError, match="corrupted"):
        await jobs.wait_for_result(forked)

    assert await jobs.texts("s2") == []


async def test_a_fork_has_the_jobs_priority_unless_it_is_given_one(jobs: Jobs) -> None:
    job_id = await jobs.start_waiting(priority=2)
    forks = [await jobs.fork_job(job_id), await jobs.fork_job(job_id, priority=5)]

    found = [
        (await jobs.handle(each).describe()).raw_description.workflow_execution_info.priority
        for each in forks
    ]
    assert [priority.priority_key for priority in found] == [2, 5]
    assert {priority.fairness_key for priority in found} == {jobs.settings.tenant_id}


async def test_a_fork_of_a_fork_begins_with_the_same_memory_and_names_its_wait_in_every_run(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start_waiting()
    first = await fork(jobs, job_id)
    await jobs.poke(first)
    memo = await (await jobs.handle(first).describe()).memo()
    await ended(jobs, first, "first")

    second = await fork(jobs, first, as_job="grandchild", session_id="s3")

    assert second == "grandchild"
    assert memo["forked_from"] == f"{job_id}/w1"
    assert [(await jobs.describe_job(each)).forked_from for each in (first, second)] == [
        f"{job_id}/w1",
        f"{first}/w1",
    ]
    assert await ended(jobs, second, "second") == ["My name is Mara.", "Hello second, Mara."]
