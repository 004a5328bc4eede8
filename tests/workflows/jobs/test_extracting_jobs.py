"""Jobs that learn from what they hear, and know what was learned."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.jobs.memories import MemoryActivities, RememberInput
from mnestic.memory.jobs.writes import EpisodeWrite, MemoryWrite, MessageWrite
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.inbox import ToolOutput
from mnestic.memory.names import ingest_workflow_id
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of
from mnestic.workflows.jobs.agent_memory import AgentMemory
from tests.workflows.conftest import Jobs, plan_of

HEARD = plan_of("hears")
KNOWS = plan_of("knows")


async def learned(jobs: Jobs, number: int) -> None:
    """Waits until just so many messages are learned from."""
    messages = jobs.memory("ada").messages

    async def done() -> bool:
        count = await messages.count()
        return count.learned >= number and not count.waiting

    await jobs.until(done)
    assert (await messages.count()).learned == number


async def entries(client: MnesticClient) -> list[Entry]:
    found, _ = await client.memory("ada").entries.list(EntryQuery())
    return sorted(found, key=lambda entry: entry.source_id or "")


@pytest.mark.usefixtures("worker")
async def test_what_a_job_remembers_as_a_message_is_learned_with_its_way_there(jobs: Jobs) -> None:
    await jobs.run(HEARD, job_id="j1", inputs={"city": "Ghent"})
    await learned(jobs, 1)

    (entry,) = await entries(jobs)
    (fact,), _ = await jobs.memory("ada").facts.list(subject="Mara", predicate="lives_in")
    _, (claim,) = await jobs.memory("ada").facts.why(fact.id)
    run_id = (await jobs.handle("j1").describe()).run_id
    assert (entry.content, entry.speaker, entry.channel) == ("I live in Ghent.", "Mara", "mail")
    assert (entry.session_id, entry.source_id) == ("s1", "j1/0/1/remember")
    assert fact.object == "Ghent"
    assert (claim.source.job_id, claim.source.workflow_run) == ("j1", run_id)
    assert (claim.source.session_id, claim.source.source_id) == ("s1", "j1/0/1/remember")


@pytest.mark.usefixtures("worker")
async def test_a_think_is_told_what_is_known_and_what_it_says_is_learned(jobs: Jobs) -> None:
    await jobs.memory("ada").facts.add("Mara", "lives_in", "Ghent")
    await jobs.memory("ada").facts.add("Tom", "lives_in", "Rome")
    await jobs.memory("ada").facts.add("Mara", "employer", "Tidal Atlas")

    result = await jobs.run(KNOWS, job_id="j1", inputs={"who": "Mara"})
    await learned(jobs, 2)

    said = {entry.source_id: (entry.speaker, entry.content) for entry in await entries(jobs)}
    assert result.results["ask"]["facts"] == 1
    assert said["j1/0/1/think#prompt"] == ("user", "Where does Mara live?")
    assert said["j1/0/1/think"][0] == "ada"


@activity.defn(name="look_up")
async def look_up() -> dict[str, list[str]]:
    return {"facts": []}


@pytest.mark.usefixtures("worker")
async def test_a_tools_result_that_is_learned_belongs_to_the_message_before_it(jobs: Jobs) -> None:
    queue = f"{jobs.settings.task_queue}-tools"
    plan = f"""
name: looks
nodes:
  - {{id: hear, kind: remember, message: {{speaker: Mara, content: "Who am I?"}}, next: look}}
  - {{id: look, kind: tool, activity: look_up, task_queue: {queue}, learn: true, next: again}}
  - {{id: again, kind: tool, activity: look_up, task_queue: {queue}, next: end}}
"""
    async with Worker(jobs.temporal, task_queue=queue, activities=[look_up]):
        await jobs.run(plan, job_id="j1")
    await learned(jobs, 2)

    message, result = await entries(jobs)
    assert (message.source_id, message.parent) == ("j1/0/1/remember", None)
    assert (result.source_id, result.parent) == ("j1/0/2/tool/kept#tool", message.id)
    assert (result.speaker, result.content) == ("look_up", '{"facts": []}')


class Asked(BaseModel):
    """Whose memory it is."""

    scope: Scope


@workflow.defn(name="Learns")
class Learns:
    """Hears something, and goes by what is known."""

    @workflow.init
    def __init__(self, asked: Asked) -> None:
        self._memory = AgentMemory(job_id="mine", scope=asked.scope)

    @workflow.run
    async def run(self, asked: Asked) -> list[str]:
        del asked
        await self._memory.remember(MemoryWrite(message=MessageWrite(content="No.")), learn=False)
        await self._memory.learn(
            "I live in Ghent.",
            speaker="Mara",
            tool_results=[ToolOutput(tool="crm", content='{"name": "Mara", "email": "m@x.org"}')],
        )
        await workflow.wait_condition(lambda: self._go_on)
        return [fact.object for fact in await self._memory.facts("Mara", predicate="lives_in")]

    _go_on = False

    @workflow.signal(name="go_on")
    def go_on(self) -> None:
        self._go_on = True


async def test_a_workflow_of_ones_own_learns_and_knows(memory: PostgresMemory, jobs: Jobs) -> None:
    activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
    tenant = jobs.settings.tenant_id
    async with Worker(
        jobs.temporal,
        task_queue=jobs.settings.task_queue,
        workflows=[Learns],
        activities=activities,
    ):
        handle = await jobs.temporal.start_workflow(
            Learns.run,
            Asked(scope=Scope(tenant_id=tenant, agent_id="ada", session_id="s1")),
            id=jobs.handle("mine").id,
            task_queue=jobs.settings.task_queue,
            run_timeout=timedelta(minutes=2),
        )
        await learned(jobs, 2)
        await handle.signal("go_on")
        believed = await handle.result()

    message, result = await entries(jobs)
    assert believed == ["Ghent"]
    assert (message.source_id, result.parent) == ("mine/0/2/learn", message.id)


@pytest.mark.parametrize("episode", [None, EpisodeWrite()], ids=["message", "message and episode"])
async def test_learning_that_a_lost_attempt_did_not_start_is_started_by_the_next(
    client: MnesticClient, memory: PostgresMemory, episode: EpisodeWrite | None
) -> None:
    tenant = client.settings.tenant_id
    activities = MemoryActivities(memory, ScopeRetriever(), LocalSummariser())
    asked = RememberInput(
        scope=Scope(tenant_id=tenant, agent_id="ada", session_id="s1"),
        operation=Operation(key="j1/0/1/remember", name="remember", job_id="j1"),
        write=MemoryWrite(message=MessageWrite(content="I live in Ghent."), episode=episode),
        learn=True,
    )
    attempt = ActivityEnvironment(client.temporal)
    attempt.info = replace(attempt.info, task_queue=client.settings.task_queue)

    with pytest.raises(
        ApplicationError, match="RuntimeError"
    ):  # after its commit, for want of a client
        await ActivityEnvironment().run(activities.remember, asked)
    await attempt.run(activities.remember, asked)

    learning = client.temporal.get_workflow_handle(ingest_workflow_id(tenant, "ada"))
    assert len(await entries(client)) == 1
    assert (await learning.describe()).task_queue == client.settings.task_queue
