"""The same mind goes on after a wait: what a model is given, and what templates find, is as if none had been."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.models.messages import ChatMessage, ChatReply
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.workflows.conftest import Jobs, plan_of

Happens = Callable[[str, int], Awaitable[None]]
PLAN = plan_of("continues")


class Recorder(LocalChatModel):
    """The local model; what it is sent can be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[tuple[str, str]]] = []

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        self.sent.append([(each.role, each.content) for each in messages])
        return await super().reply(messages, max_tokens=max_tokens)

    @property
    def text(self) -> str:
        """All that it was sent last."""
        return "\n".join(content for _, content in self.sent[-1])


@pytest.fixture(autouse=True)
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


async def finish(jobs: Jobs, job_id: str) -> JobResult:
    """Resumes a job at its first wait, and returns its result."""
    await jobs.until_state(job_id, "waiting")
    await jobs.resume_job(job_id)
    return await jobs.wait_for_result(job_id)


async def recalled(jobs: Jobs, variable: str) -> list[str]:
    return [each["summary"] for each in (await jobs.variables())[variable]["episodes"]]


@pytest.mark.parametrize("policy", ["rebase", "pinned", "strict"])
async def test_the_prompt_after_a_wait_is_the_one_that_would_have_been_sent_without(
    jobs: Jobs, model: Recorder, happens: Happens, policy: str
) -> None:
    for agent in ("straight", "waits"):
        await happens(agent, 1)

    waiting = PLAN.replace("POLICY", policy)
    wait = waiting[waiting.index("  - id: approval") : waiting.index("  - id: ask")]
    await jobs.run(
        waiting.replace(wait, "").replace("next: approval", "next: ask"), agent_id="straight"
    )
    await finish(jobs, await jobs.start(waiting, agent_id="waits"))

    expected, sent = model.sent
    assert sent == expected
    assert '{"record": "order/price", "value": 10}' in model.text
    assert '{"episode": "Visit 1.", "date": ' in model.text
    assert "Mara: Shall we?" in model.text
    assert "Mood calm, price 10." in model.text


async def test_a_rebased_job_goes_on_with_newer_episodes_which_the_drift_names(
    jobs: Jobs, model: Recorder, happens: Happens
) -> None:
    await happens("ada", 1)
    job_id = await jobs.start_waiting(PLAN.replace("POLICY", "rebase"))
    await happens("ada", 2)
    await jobs.memory("ada").records.set("order", "price", 12)

    result = await finish(jobs, job_id)

    episodes, _ = await jobs.memory("ada").episodes.list()
    (visit,) = [f"episode/{each.id}" for each in episodes if each.summary == "Visit 2."]
    named = {each["key"] for each in result.results["approval"]["drift"]}
    drift = {each["key"]: each.get("now") for each in (await jobs.variables())["drift"]}
    assert model.text.index("Visit 2.") < model.text.index("Visit 1.")
    assert '{"record": "order/price", "value": 12}' in model.text
    assert "price 12. What now?" in model.text
    assert named >= {"price", visit}
    assert drift[visit] == "Visit 2."
    assert "Visit 2." in await recalled(jobs, "look")


async def test_a_pinned_job_remembers_no_episode_that_was_written_after_its_snapshot(
    jobs: Jobs, model: Recorder, happens: Happens
) -> None:
    await happens("ada", 1)
    plan = PLAN.replace("POLICY", "pinned").replace("resumed: ask", "resumed: own")
    own = "  - {id: own, kind: remember, episode: {summary: My own.}, next: ask}\n"
    job_id = await jobs.start_waiting(plan + own)
    await happens("ada", 2)

    result = await finish(jobs, job_id)

    look = await recalled(jobs, "look")
    assert "Visit 1." in model.text
    assert "Visit 2." not in model.text
    assert look[0] == "My own."
    assert "Visit 1." in look
    assert "Visit 2." not in look
    assert [each["summary"] for each in (await jobs.variables())["seen"]] == look
    assert result.results["approval"]["drift_count"] == 0


async def test_what_is_pinned_stays_so_in_new_runs_and_over_a_strict_wait_until_one_rebases(
    jobs: Jobs, happens: Happens
) -> None:
    plan = plan_of("pins")
    for number in range(22):  # a full tail, and two episodes before it
        await happens("ada", number)
    job_id = await jobs.start_waiting(plan)
    await happens("ada", 99)
    await jobs.resume_job(job_id)
    await jobs.until_state(job_id, "waiting", waits=2)
    await jobs.poke(job_id)
    await jobs.resume_job(job_id, wait_id=f"{job_id}/w2")
    await jobs.until_state(job_id, "waiting", waits=3)

    await jobs.resume_job(job_id, wait_id=f"{job_id}/w3")
    result = await jobs.wait_for_result(job_id)

    first, second = await recalled(jobs, "first"), await recalled(jobs, "second")
    assert len(first) == 22
    assert "Visit 0." in first
    assert "Visit 99." not in first
    assert "Visit 99." in second
    assert result.results["b"]["drift_count"] == 0
    assert result.results["c"]["drift_count"] == 1


async def test_a_think_may_leave_out_what_happened_in_other_sessions_or_all_of_it(
    jobs: Jobs, model: Recorder, happens: Happens
) -> None:
    plan = plan_of("narrow")
    await happens("ada", 1)

    await jobs.run(plan)

    (block, *_), nothing = model.sent
    assert "Here." in block[1]
    assert "Visit 1." not in block[1]
    assert nothing == [("user", "What now?")]
