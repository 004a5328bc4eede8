"""The same mind goes on after a wait: what a model is given, and what templates find, is as if none had been."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.models.messages import ChatMessage, ChatReply
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker

Until = Callable[..., Awaitable[Any]]
Poke = Callable[[str], Awaitable[None]]
Happens = Callable[[str, int], Awaitable[None]]
PLAN = """
name: continues
nodes:
  - {id: keep, kind: remember, records: [{namespace: order, key: price, value: 10}], next: before}
  - {id: before, kind: recall, records: [{namespace: order}], next: hear}
  - id: hear
    kind: remember
    message: {speaker: Mara, content: "Shall we?"}
    variables: {mood: calm}
    next: WAIT
  - id: approval
    kind: wait
    key: approval
    timeout: 21d
    policy: POLICY
    on: {resumed: ask, timeout: end}
  - id: ask
    kind: think
    prompt: "Mood ${memory.variables.mood}, price ${memory.records.order.price}. What now?"
    next: look
  - {id: look, kind: recall, episodes: {of: agent, limit: 50}, next: note}
  - {id: note, kind: remember, variables: {seen: "${memory.episodes}"}, next: end}
"""


class Recorder(LocalChatModel):
    """The local model; what it is sent can be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[tuple[str, str]]] = []

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        self.sent.append([(each.role, each.content) for each in messages])
        return await super().reply(messages, max_tokens=max_tokens)


@pytest.fixture
async def model(
    client: MnesticClient, settings: Settings, memory: PostgresMemory
) -> AsyncIterator[Recorder]:
    """The model of a worker that runs for the whole test."""
    model = Recorder()
    activities = activities_of(memory, model=model, summariser=LocalSummariser())
    async with make_worker(client.temporal, settings, activities=activities):
        yield model


@pytest.fixture
def happens(client: MnesticClient, memory: PostgresMemory) -> Happens:
    """Writes an episode of an agent, as another job does."""

    async def happens(agent: str, number: int) -> None:
        async with memory.transaction(
            tenant_id=client.settings.tenant_id, agent_id=agent, actor="other", write=True
        ) as transaction:
            episode = Episode(
                id=str(uuid.uuid4()),
                agent_id=agent,
                summary=f"Visit {number}.",
                created_at=await transaction.now(),
            )
            await transaction.episodes.append(episode)

    return happens


async def start(client: MnesticClient, text: str, *, agent: str, job_id: str | None = None) -> str:
    plan = parse_plan(text, source="test")
    return await client.start_job(plan, agent_id=agent, session_id="s1", job_id=job_id)


async def parked(client: MnesticClient, job_id: str, wait_id: str, until: Until) -> None:
    async def is_open() -> bool:
        wait = await client.find_open_wait(job_id)
        return wait is not None and wait.wait_id == wait_id

    await until(is_open)


async def finish(client: MnesticClient, job_id: str, until: Until) -> JobResult:
    """Resumes a job at its first wait, and returns its result."""
    await parked(client, job_id, f"{job_id}/w1", until)
    await client.resume_job(job_id)
    return await client.wait_for_result(job_id)


@pytest.mark.parametrize("policy", ["rebase", "pinned", "strict"])
async def test_the_prompt_after_a_wait_is_the_one_that_would_have_been_sent_without(
    client: MnesticClient, model: Recorder, until: Until, happens: Happens, policy: str
) -> None:
    for agent in ("straight", "waits"):
        await happens(agent, 1)

    waiting = PLAN.replace("WAIT", "approval").replace("POLICY", policy)
    wait = waiting[waiting.index("  - id: approval") : waiting.index("  - id: ask")]
    without_wait = waiting.replace(wait, "").replace("next: approval", "next: ask")
    job_id = await start(client, without_wait, agent="straight")
    await client.wait_for_result(job_id)
    await finish(client, await start(client, waiting, agent="waits"), until)

    expected, sent = model.sent
    assert sent == expected
    text = "\n".join(content for _, content in sent)
    assert '{"record": "order/price", "value": 10}' in text
    assert '{"episode": "Visit 1.", "date": ' in text
    assert "Mara: Shall we?" in text
    assert "Mood calm, price 10." in text


async def test_a_rebased_job_goes_on_with_newer_episodes_which_the_drift_names(
    client: MnesticClient, model: Recorder, until: Until, happens: Happens
) -> None:
    await happens("ada", 1)
    job_id = await start(
        client, PLAN.replace("WAIT", "approval").replace("POLICY", "rebase"), agent="ada"
    )
    await parked(client, job_id, f"{job_id}/w1", until)
    await happens("ada", 2)
    await client.memory("ada").records.set("order", "price", 12)

    result = await finish(client, job_id, until)

    state = await client.memory("ada").working_memory.get("s1")
    episodes, _ = await client.memory("ada").episodes.list()
    ids = {each.id for each in episodes if each.summary == "Visit 2."}
    (sent,) = model.sent
    text = "\n".join(content for _, content in sent)
    named = {each["key"] for each in result.results["approval"]["drift"]}
    drift = {each["key"]: each.get("now") for each in state.variables["drift"]}
    assert text.index("Visit 2.") < text.index("Visit 1.")
    assert '{"record": "order/price", "value": 12}' in text
    assert "price 12. What now?" in text
    assert named >= {"price", *(f"episode/{each}" for each in ids)}
    assert [drift[f"episode/{each}"] for each in ids] == ["Visit 2."]
    assert "Visit 2." in str(state.variables["look"])


async def test_a_pinned_job_remembers_no_episode_that_was_written_after_its_snapshot(
    client: MnesticClient, model: Recorder, until: Until, happens: Happens
) -> None:
    await happens("ada", 1)
    plan = PLAN.replace("WAIT", "approval").replace("POLICY", "pinned")
    plan = (
        plan.replace("resumed: ask", "resumed: own")
        + "  - {id: own, kind: remember, episode: {summary: My own.}, next: ask}\n"
    )
    job_id = await start(client, plan, agent="ada")
    await parked(client, job_id, f"{job_id}/w1", until)
    await happens("ada", 2)

    result = await finish(client, job_id, until)

    state = await client.memory("ada").working_memory.get("s1")
    recalled = [each["summary"] for each in state.variables["look"]["episodes"]]
    (sent,) = model.sent
    text = "\n".join(content for _, content in sent)
    assert "Visit 1." in text
    assert "Visit 2." not in text
    assert recalled[0] == "My own."
    assert "Visit 1." in recalled
    assert "Visit 2." not in recalled
    assert [each["summary"] for each in state.variables["seen"]] == recalled
    assert result.results["approval"]["drift_count"] == 0


@pytest.mark.usefixtures("worker")
async def test_what_is_pinned_stays_so_in_new_runs_and_over_a_strict_wait_until_one_rebases(
    client: MnesticClient, until: Until, happens: Happens, poke: Poke
) -> None:
    plan = """
name: pins
nodes:
  - {id: a, kind: wait, key: a, timeout: 21d, policy: pinned, on: {resumed: b, timeout: end}}
  - {id: b, kind: wait, key: b, timeout: 21d, policy: strict, on: {resumed: first, timeout: end}}
  - {id: first, kind: recall, episodes: {of: agent, limit: 50}, next: c}
  - {id: c, kind: wait, key: c, timeout: 21d, policy: rebase, on: {resumed: second, timeout: end}}
  - {id: second, kind: recall, episodes: {of: agent, limit: 50}, next: end}
"""
    for number in range(22):  # a full tail, and two episodes before it
        await happens("ada", number)
    job_id = await start(client, plan, agent="ada")
    await parked(client, job_id, f"{job_id}/w1", until)
    await happens("ada", 99)
    await client.resume_job(job_id, wait_id=f"{job_id}/w1")
    await parked(client, job_id, f"{job_id}/w2", until)
    await poke(job_id)
    await client.resume_job(job_id, wait_id=f"{job_id}/w2")
    await parked(client, job_id, f"{job_id}/w3", until)

    await client.resume_job(job_id, wait_id=f"{job_id}/w3")
    result = await client.wait_for_result(job_id)

    variables = (await client.memory("ada").working_memory.get("s1")).variables
    first, second = (
        [each["summary"] for each in variables[name]["episodes"]] for name in ("first", "second")
    )
    assert len(first) == 22
    assert "Visit 0." in first
    assert "Visit 99." not in first
    assert "Visit 99." in second
    assert result.results["b"]["drift_count"] == 0
    assert result.results["c"]["drift_count"] == 1


async def test_a_think_may_leave_out_what_happened_in_other_sessions_or_all_of_it(
    client: MnesticClient, model: Recorder, happens: Happens
) -> None:
    plan = """
name: narrow
nodes:
  - {id: own, kind: remember, episode: {summary: Here.}, next: session}
  - {id: session, kind: think, prompt: "What now?", context: {of: session}, next: nothing}
  - {id: nothing, kind: think, prompt: "What now?", context: false, history: 0, next: end}
"""
    await happens("ada", 1)

    await client.wait_for_result(await start(client, plan, agent="ada"))

    (block, *_), nothing = model.sent
    assert "Here." in block[1]
    assert "Visit 1." not in block[1]
    assert nothing == [("user", "What now?")]
