"""What becomes of rows of each kind when a topic is forgotten, of jobs of any kind."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from temporalio import activity, workflow
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.forgetting.requests import RemainingRow
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.retrieval.retrieval_log import LoggedNote, RetrievalLogEntry
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.jobs.agent_memory import AgentMemory
from tests.word_scan import scan_statistics
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import forget

pytestmark = pytest.mark.acceptance  # each forgets whole memories and scans every table

Until = Callable[..., Awaitable[Any]]
PLAN = """
name: hotels
nodes:
  - id: look
    kind: tool
    activity: tell
    task_queue: TOOLS
    arguments: Paris
    store_above: 20
    next: approval
  - id: approval
    kind: wait
    key: approval
    ask: Which hotel of Paris?
    form: {type: object, properties: {Paris: {type: string}, by: {type: string}}}
    timeout: 21d
    on: {resumed: keep, timeout: end}
  - {id: keep, kind: remember, note: "${memory.results.look.text}", next: end}
"""


@activity.defn(name="tell")
async def tell(city: str) -> dict[str, str]:
    """A result too large to travel."""
    return {"text": f"There are hotels in {city}. " * 20}


@workflow.defn(name="Mine")
class Mine:
    """A workflow of somebody's own, whose id is not that of its job."""

    @workflow.init
    def __init__(self, scope: Scope) -> None:
        self._memory = AgentMemory(job_id="mine", scope=scope)

    @workflow.run
    async def run(self, scope: Scope) -> None:  # noqa: ARG002 - Temporal gives it to both
        await self._memory.wait("word", ask="Paris?", timeout=timedelta(days=1))


def left(found: tuple[RemainingRow, ...]) -> set[tuple[str, str]]:
    return {(one.kind, one.name) for one in found}


async def start(client: MnesticClient, until: Until, job_id: str, *, agent: str = "ada") -> None:
    plan = PLAN.replace("TOOLS", f"{client.settings.task_queue}-tools")
    await client.start_job(
        parse_plan(plan, source="test"), agent_id=agent, session_id=f"s-{job_id}", job_id=job_id
    )

    async def waits() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(waits)


@pytest.mark.usefixtures("worker")
async def test_results_plans_forms_and_receipts_of_a_job_that_is_over_go(
    client: MnesticClient, scan: Scan, until: Until
) -> None:
    queue = f"{client.settings.task_queue}-tools"
    async with Worker(client.temporal, task_queue=queue, activities=[tell]):
        await start(client, until, "j1")
        await client.resume_job("j1", {"Paris": "Ritz", "by": "Ana of Paris"}, request_id="r1")
        await client.wait_for_result("j1")
        before = scan("paris")
        done = await forget(client.memory("ada"), "Paris")

    assert before.keys() >= {"plan", "tool_result", "job_wait", "memory_snapshot", "operation"}
    assert scan("paris") == {}
    assert (done.purged["plan"], done.purged["tool_result"], done.left) == (1, 1, ())
    receipt = await client.resume_job("j1", {"by": "Ana"}, request_id="r1")
    assert receipt is not None
    assert receipt.request_id == "r1"


@pytest.mark.usefixtures("worker")
async def test_a_plan_that_others_use_is_left_and_named(
    client: MnesticClient, scan: Scan, until: Until
) -> None:
    queue = f"{client.settings.task_queue}-tools"
    async with Worker(client.temporal, task_queue=queue, activities=[tell]):
        for agent in ("ada", "bob"):
            await start(client, until, f"j-{agent}", agent=agent)
            await client.resume_job(f"j-{agent}", {}, request_id="r1")
            await client.wait_for_result(f"j-{agent}")
        done = await forget(client.memory("ada"), "Paris")

    assert [one.kind for one in done.left] == ["plan"]
    assert scan("paris") == {"plan": 1}


@pytest.mark.usefixtures("worker")
async def test_a_terminated_job_is_over_too(
    client: MnesticClient, scan: Scan, until: Until
) -> None:
    queue = f"{client.settings.task_queue}-tools"
    async with Worker(client.temporal, task_queue=queue, activities=[tell]):
        await start(client, until, "j1")
        handle = client.temporal.get_workflow_handle(f"job/{client.settings.tenant_id}/j1")
        running = await client.memory("ada").preview_forget("Paris")
        await handle.terminate()
        done = await forget(client.memory("ada"), "Paris")

    assert left(running.left) >= {("job", "j1")}
    assert done.left == ()
    assert scan("paris") == {}


async def test_a_workflow_of_ones_own_keeps_what_it_has_in_mind_while_it_runs(
    client: MnesticClient,
    scan: Scan,
    until: Until,
    memory: PostgresMemory,
) -> None:
    scope = Scope(tenant_id=client.settings.tenant_id, agent_id="ada", session_id="s1")
    queue = client.settings.task_queue
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    async with Worker(client.temporal, task_queue=queue, workflows=[Mine], activities=activities):
        handle = await client.temporal.start_workflow(Mine.run, scope, id="own-1", task_queue=queue)
        await until(lambda: asyncio.to_thread(lambda: "job_wait" in scan("paris")))
        first = await forget(client.memory("ada"), "Paris")
        await handle.terminate()
        second = await forget(client.memory("ada"), "Paris")

    assert left(first.left) == {("job", "mine")}
    assert second.left == ()
    assert scan("paris") == {}


@pytest.mark.usefixtures("worker")
async def test_the_planner_s_statistics_quote_nothing_that_was_forgotten(
    client: MnesticClient, admin_url: str
) -> None:
    ada = client.memory("ada")
    for number in range(3):
        await ada.add(f"The codename Quixotling number {number} is due in March.")
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("SET default_statistics_target = 10000")  # whatever other tests have written
        owner.execute("ANALYZE")
    before = scan_statistics(admin_url, "quixotl")

    done = await forget(ada, "Quixotling")

    assert before >= {"entry", "resource", "lexeme"}
    assert scan_statistics(admin_url, "quixotl") == set()
    assert (done.stale, done.left) == ((), ())


@pytest.mark.usefixtures("worker")
async def test_statistics_that_could_not_be_renewed_are_named(
    client: MnesticClient, admin_url: str
) -> None:
    await client.memory("ada").add("I live in Paris.")
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("GRANT CREATE ON SCHEMA mnestic TO mnestic_app")
        owner.execute("ALTER FUNCTION mnestic.renew_statistics OWNER TO mnestic_app")
        try:
            done = await forget(client.memory("ada"), "Paris")
        finally:
            owner.execute("ALTER FUNCTION mnestic.renew_statistics OWNER TO CURRENT_USER")
            owner.execute("GRANT EXECUTE ON FUNCTION mnestic.renew_statistics TO mnestic_app")
            owner.execute("REVOKE CREATE ON SCHEMA mnestic FROM mnestic_app")

    assert {"entry", "resource", "lexeme", "forgetting"} <= set(done.stale)
    assert ("statistics", "pg_statistic of mnestic.entry") in left(done.left)


def sent(source_id: str, content: str, *, channel: str) -> Resource:
    return Resource(
        session_id="chat",
        source_id=source_id,
        channel=channel,
        speaker="Mara",
        content=content,
        at=datetime(2026, 3, 2, 9, tzinfo=UTC),
    )


@pytest.mark.usefixtures("worker")
async def test_a_channel_that_names_what_is_forgotten_names_it_no_more(
    client: MnesticClient, memory: PostgresMemory, scan: Scan
) -> None:
    gone = sent("1", "We fly to Paris.", channel="paris-trip")
    kept = sent("2", "Tea is at four.", channel="paris-trip")
    ada = client.memory("ada")
    await ada.ingest([gone, kept, sent("3", "It rains.", channel="mail")])
    await ada.add("Paris is lovely.", channel="paris-trip", speaker="Paris Air")
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.retrieval_log.add(RetrievalLogEntry(channel="paris-trip", preview="Tea?"))
    assert scan("paris").keys() >= {"resource", "entry", "memory_retrievals"}

    shown = await ada.preview_forget("Paris")
    done = await forget(ada, "Paris")
    await ada.ingest([gone, kept])

    assert scan("paris") == {}
    assert shown.purged == {**done.purged, "audit_log": shown.purged["audit_log"]}
    assert (done.purged["entry"], done.purged["resource"], done.left) == (3, 3, ())
    entries, _ = await ada.entries.list(EntryQuery())
    told = {(entry.content, entry.channel) for entry in entries}
    assert told == {("Tea is at four.", FORGOTTEN), ("It rains.", "mail")}


@pytest.mark.usefixtures("worker")
async def test_what_was_put_before_messages_is_counted_and_says_nothing(
    client: MnesticClient, memory: PostgresMemory, scan: Scan
) -> None:
    put = RetrievalLogEntry(
        channel="mail",
        preview="When do we fly to Paris?",
        notes=(LoggedNote(path="Paris.md"), LoggedNote(path="Tea.md")),
        tokens=40,
    )
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.retrieval_log.add(put)

    await forget(client.memory("ada"), "Paris")

    (kept,), _ = await client.memory("ada").retrieval_log.list()
    assert (kept.preview, [note.path for note in kept.notes], kept.tokens) == (
        "[forgotten]",
        ["[forgotten]", "Tea.md"],
        40,
    )
    assert scan("paris") == {}


@pytest.mark.usefixtures("worker")
async def test_what_somebody_has_set_is_left_and_named(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.settings.put("obsidian_context_notes", ["Paris.md"])
        rule = Predicate(name="paris_trip", cardinality="multi", category="events")
        await transaction.facts.set_predicate(rule)

    done = await forget(client.memory("ada"), "Paris")

    assert left(done.left) == {("setting", "obsidian_context_notes"), ("predicate", "paris_trip")}
