"""What becomes of rows of each kind when a topic is forgotten, of jobs of any kind."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio import activity, workflow
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.forgetting.requests import RemainingRow
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry
from mnestic.memory.scope import Scope
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.jobs.agent_memory import AgentMemory
from tests.transactions import Begin
from tests.workflows.conftest import Jobs, plan_of
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import forget, said

pytestmark = pytest.mark.acceptance  # each forgets whole memories and scans every table

PLAN = plan_of("hotels")


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


@pytest.fixture
async def tools(client: MnesticClient) -> AsyncIterator[str]:
    """The task queue of a worker that has the tool."""
    queue = f"{client.settings.task_queue}-tools"
    async with Worker(client.temporal, task_queue=queue, activities=[tell]):
        yield queue


async def start(jobs: Jobs, tools: str, job_id: str, *, agent: str = "ada") -> None:
    plan = PLAN.replace("TOOLS", tools)
    await jobs.start_waiting(plan, agent_id=agent, session_id=f"s-{job_id}", job_id=job_id)


@pytest.mark.usefixtures("worker")
async def test_results_plans_forms_and_receipts_of_a_job_that_is_over_go(
    ada: MemoryClient, scan: Scan, jobs: Jobs, tools: str
) -> None:
    await start(jobs, tools, "j1")
    answer = {"Paris": "Ritz", "by": "Ana of Paris"}
    await jobs.resume_job("j1", answer, request_id="r1")
    await jobs.wait_for_result("j1")
    before = scan("paris")
    done = await forget(ada, "Paris")

    assert before.keys() >= {"plan", "tool_result", "job_wait", "memory_snapshot", "operation"}
    assert scan("paris") == {}
    assert (done.purged["plan"], done.purged["tool_result"], done.left) == (1, 1, ())
    receipt = await jobs.resume_job("j1", answer, request_id="r1")
    assert receipt is not None
    assert receipt.request_id == "r1"


@pytest.mark.usefixtures("worker")
async def test_a_plan_that_others_use_is_left_and_named(
    ada: MemoryClient, scan: Scan, jobs: Jobs, tools: str
) -> None:
    for agent in ("ada", "bob"):
        await start(jobs, tools, f"j-{agent}", agent=agent)
        await jobs.resume_job(f"j-{agent}", {}, request_id="r1")
        await jobs.wait_for_result(f"j-{agent}")
    done = await forget(ada, "Paris")

    assert [one.kind for one in done.left] == ["plan"]
    assert scan("paris") == {"plan": 1}


@pytest.mark.usefixtures("worker")
async def test_a_terminated_job_is_over_too(
    ada: MemoryClient, scan: Scan, jobs: Jobs, tools: str
) -> None:
    await start(jobs, tools, "j1")
    running = await ada.preview_forget("Paris")
    await jobs.handle("j1").terminate()
    done = await forget(ada, "Paris")

    assert left(running.left) >= {("job", "j1")}
    assert done.left == ()
    assert scan("paris") == {}


async def test_a_workflow_of_ones_own_keeps_what_it_has_in_mind_while_it_runs(
    ada: MemoryClient, scan: Scan, jobs: Jobs, memory: PostgresMemory
) -> None:
    scope = Scope(tenant_id=jobs.settings.tenant_id, agent_id="ada", session_id="s1")
    queue = jobs.settings.task_queue
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    async with Worker(jobs.temporal, task_queue=queue, workflows=[Mine], activities=activities):
        handle = await jobs.temporal.start_workflow(Mine.run, scope, id="own-1", task_queue=queue)
        await jobs.until(lambda: asyncio.to_thread(lambda: "job_wait" in scan("paris")))
        first = await forget(ada, "Paris")
        await handle.terminate()
        second = await forget(ada, "Paris")

    assert left(first.left) == {("job", "mine")}
    assert second.left == ()
    assert scan("paris") == {}


@pytest.mark.usefixtures("worker")
async def test_a_channel_that_names_what_is_forgotten_names_it_no_more(
    ada: MemoryClient, scan: Scan, begin: Begin
) -> None:
    trip = {"channel": "paris-trip"}
    gone = said("1", "We fly to Paris.").model_copy(update=trip)
    kept = said("2", "Tea is at four.").model_copy(update=trip)
    await ada.ingest([gone, kept, said("3", "It rains.")])
    await ada.add("Paris is lovely.", channel="paris-trip", speaker="Paris Air")
    async with begin() as transaction:
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
async def test_what_somebody_has_set_is_left_and_named(ada: MemoryClient, begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.settings.put("obsidian_context_notes", ["Paris.md"])
        rule = Predicate(name="paris_trip", cardinality="multi", category="events")
        await transaction.facts.set_predicate(rule)

    done = await forget(ada, "Paris")

    assert left(done.left) == {("setting", "obsidian_context_notes"), ("predicate", "paris_trip")}


@pytest.mark.usefixtures("worker")
async def test_what_an_agent_shares_of_a_topic_is_forgotten_with_it(
    ada: MemoryClient, scan: Scan, client: MnesticClient
) -> None:
    spaces = [{"namespace": "trips", "access_level": "write", "agents_allowed": ["*"]}]
    shared = {
        "enabled": True,
        "namespaces": spaces,
        "coordination": {"lock_strategy": "pessimistic"},
        "pubsub": {"enabled": True, "channels": [{"channel": "news"}]},
    }
    await client.contracts().apply("*", {"Memory": {"shared": shared}})
    own, other = await client.contract("ada"), await client.contract("bert")
    await own.set_shared("trips", "next", {"to": "Paris", "days": 4})
    await own.set_shared("trips", "paris", 1)
    await other.set_shared("trips", "theirs", "Paris is lovely.")
    await own.publish("news", {"of": "Paris"})
    await own.lock("trips", "paris-lock")

    done = await forget(ada, "Paris")

    assert {*done.purged} >= {"long_term_record", "channel_event", "lease"}
    assert scan("paris", agent="ada") == {}
    records, _ = await own.list_shared("trips")
    assert [(one.key, one.value) for one in records] == [
        ("next", {"to": FORGOTTEN, "days": 4}),
        ("theirs", "Paris is lovely."),
    ]
