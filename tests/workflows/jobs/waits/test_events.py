"""Jobs that wait for an event of another agent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import ResumeRefusedError
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.polls.wait_poll import wait_poll
from tests.workflows.conftest import Jobs

WATCH = """
name: watch
nodes:
  - id: hold
    kind: wait
    key: violation
    timeout: 1d
    event: {channel: "seo.violation.*", where: {severity: high}}
    on: {event: note, timeout: end}
  - {id: note, kind: remember, message: {role: assistant, content: "${results.hold.payload.payload.page}"}, next: end}
"""
SAYS = """
name: says
nodes:
  - {id: say, kind: emit, channel: seo.violation.title, content: "No title.", next: end}
"""
HIGH = {"severity": "high", "page": "/pricing"}


def document(*, pubsub: bool = True) -> dict[str, Any]:
    channels = [{"channel": "aicos:seo", "pattern": "seo.violation.*"}]
    return {
        "Memory": {"shared": {"enabled": True, "pubsub": {"enabled": pubsub, "channels": channels}}}
    }


@pytest.fixture
async def crawler(jobs: Jobs) -> ContractMemory:
    """The agent that publishes; `ada` may wait for what it says."""
    await jobs.contracts().apply("*", document())
    return await jobs.contract("crawler")


@asynccontextmanager
async def sending(jobs: Jobs) -> AsyncIterator[None]:
    async with wait_poll(jobs._memory, jobs.temporal, tenants=[jobs.settings.tenant_id]):
        yield


@pytest.mark.usefixtures("worker")
async def test_the_first_event_that_fits_resumes_the_job_once(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    await crawler.publish("seo.violation.title", HIGH | {"page": "/before"})
    job_id = await jobs.start_waiting(WATCH)
    async with sending(jobs):
        await crawler.publish("seo.violation.title", {"severity": "low"})
        await crawler.publish("aicos:seo", HIGH)
        published = await crawler.publish("seo.violation.title", HIGH)
        await crawler.publish("seo.violation.title", HIGH | {"page": "/after"})

        result = await jobs.result(job_id)

    outcome = result.results["hold"]
    assert (outcome["outcome"], outcome["payload"]["id"]) == ("event", published)
    assert outcome["payload"]["agent_id"] == "crawler"
    assert await jobs.texts() == ["/pricing"]
    (wait,) = await jobs.waits(job_id)
    assert (wait.state, wait.receipt and wait.receipt.verified) == ("resumed", True)


async def test_an_event_that_came_while_no_worker_was_up_ends_the_wait_before_its_deadline(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    async with jobs.worker():
        job_id = await jobs.start_waiting(WATCH)
    await crawler.publish("seo.violation.title", HIGH)
    await jobs.pass_deadline(job_id)
    async with jobs.worker():
        result = await jobs.result(job_id)

    assert result.results["hold"]["outcome"] == "event"


@pytest.mark.usefixtures("worker")
async def test_many_jobs_wait_on_one_channel_and_each_is_resumed_once(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    waiting = [await jobs.start_waiting(WATCH, session_id=f"s{n}") for n in range(5)]
    async with sending(jobs), sending(jobs):
        await asyncio.gather(*(crawler.publish("seo.violation.title", HIGH) for _ in range(4)))
        results = [await jobs.result(job_id) for job_id in waiting]

    assert {result.results["hold"]["payload"]["number"] for result in results} == {1}


@pytest.mark.usefixtures("worker")
async def test_a_worker_of_another_namespace_leaves_waits_alone(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    tenant, own = jobs.settings.tenant_id, jobs.temporal.namespace
    await jobs.start_waiting(WATCH)
    await crawler.publish("seo.violation.title", HIGH)

    met = {
        namespace: await jobs._memory.list_agents_with_met_waits(
            tenants=[tenant], temporal_namespace=namespace
        )
        for namespace in ("elsewhere", own)
    }
    caller = client_caller(jobs._memory, tenant_id=tenant, agent_id="ada")
    async with caller(write=True) as transaction:
        taken = await transaction.waits.claim_met("elsewhere")

    assert met == {"elsewhere": (), own: ((tenant, "ada"),)}
    assert taken == ()


@pytest.mark.usefixtures("worker")
async def test_nobody_pretends_an_event(jobs: Jobs, crawler: ContractMemory) -> None:
    job_id = await jobs.start_waiting(WATCH)
    event = {"number": 1, "id": "e1", "channel": "seo.violation.title", "payload": HIGH}

    with pytest.raises(ResumeRefusedError, match="has got no event"):
        await jobs.resume_job(job_id, event, outcome="event")

    assert crawler is not None
    assert (await jobs.describe_job(job_id)).state == "waiting"


@pytest.mark.usefixtures("worker")
async def test_a_job_may_not_wait_for_a_channel_that_its_contract_does_not_have(
    jobs: Jobs,
) -> None:
    await jobs.contracts().apply("*", document(pubsub=False))

    job_id = await jobs.start(WATCH)
    await jobs.until_state(job_id, "failed")

    assert "no access to channel seo.violation.*" in str((await jobs.describe_job(job_id)).failure)


@pytest.mark.usefixtures("worker")
async def test_what_a_plan_emits_is_published_and_wakes_another_job(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    plan = WATCH.replace("where: {severity: high}", "where: {content: No title.}")
    job_id = await jobs.start_waiting(plan.replace("payload.page", "payload.content"))
    async with sending(jobs):
        said = await jobs.run(SAYS, agent_id="crawler", session_id="s2")
        result = await jobs.result(job_id)

    assert result.results["hold"]["payload"]["payload"]["job_id"] == said.job_id
    (event,) = await crawler.list_events("seo.violation.*")
    assert event.payload == {"content": "No title.", "job_id": said.job_id}


@pytest.mark.usefixtures("worker")
async def test_an_agent_publishes_while_its_own_jobs_begin_to_wait(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    own = await jobs.contract("ada")

    async def publish() -> None:
        for n in range(30):
            await own.publish("aicos:seo", {"n": n})

    waiting, *_ = await asyncio.gather(
        asyncio.gather(*(jobs.start_waiting(WATCH, session_id=f"s{n}") for n in range(6))),
        *(publish() for _ in range(3)),
    )

    assert len(waiting) == 6
    assert len(await crawler.list_events("aicos:seo")) == 90


@pytest.mark.usefixtures("worker")
async def test_an_event_that_is_larger_than_the_payload_of_a_resume_resumes_a_job(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    job_id = await jobs.start_waiting(WATCH)
    large = HIGH | {"text": "x" * 60_000}
    async with sending(jobs):
        await crawler.publish("seo.violation.title", large)
        result = await jobs.result(job_id)

    assert result.results["hold"]["payload"]["payload"] == large


@pytest.mark.usefixtures("worker")
async def test_an_event_that_is_changed_after_it_was_sent_resumes_the_job_as_it_is_then(
    jobs: Jobs, crawler: ContractMemory, admin_url: str
) -> None:
    job_id = await jobs.start_waiting(WATCH)
    jobs.rot()
    async with sending(jobs):
        await crawler.publish("seo.violation.title", HIGH)
        await jobs.until_state(job_id, "needs_attention")
    with psycopg.connect(admin_url) as connection:  # as forgetting a topic does
        connection.execute(
            """UPDATE mnestic.channel_event SET payload = '{"page": "[removed]"}' WHERE tenant_id = %s""",
            [jobs.settings.tenant_id],
        )
    jobs.rot()
    await jobs.poke_job(job_id)

    assert (await jobs.result(job_id)).results["hold"]["outcome"] == "event"
    assert await jobs.texts() == ["[removed]"]


@pytest.mark.usefixtures("worker")
async def test_a_wait_for_a_forgotten_event_matches_no_other(
    jobs: Jobs, crawler: ContractMemory, admin_url: str
) -> None:
    job_id = await jobs.start_waiting(WATCH)
    with psycopg.connect(admin_url) as connection:  # as forgetting a topic does
        connection.execute(
            "UPDATE mnestic.job_wait SET event_where = NULL WHERE tenant_id = %s",
            [jobs.settings.tenant_id],
        )
    async with sending(jobs):
        for said in ({}, HIGH, {"[forgotten]": True}):
            await crawler.publish("seo.violation.title", said)

        (wait,) = await jobs.waits(job_id)
        met = await jobs._memory.list_agents_with_met_waits(
            tenants=[jobs.settings.tenant_id], temporal_namespace=jobs.temporal.namespace
        )

    assert (wait.state, met) == ("waiting", ())
    assert str(wait.condition) == (
        "an event on seo.violation.* that was forgotten, so none ends it"
    )


@pytest.mark.usefixtures("worker")
async def test_what_is_kept_out_is_not_emitted_to_others(
    jobs: Jobs, crawler: ContractMemory
) -> None:
    memory = jobs.memory("crawler")
    shown = await memory.preview_forget("Otilia")
    await memory.forget("Otilia", confirm=shown.token, keep_out=True)

    said = SAYS.replace("No title.", "Otilia has no title.")
    await jobs.run(said, agent_id="crawler", session_id="s2")

    assert await crawler.list_events("seo.violation.*") == ()


@pytest.mark.usefixtures("worker")
async def test_of_a_wait_for_no_event_the_outcome_event_is_a_name_as_any_other(jobs: Jobs) -> None:
    plan = WATCH.replace('    event: {channel: "seo.violation.*", where: {severity: high}}\n', "")
    job_id = await jobs.start_waiting(plan.replace("payload.payload.page", "payload.page"))

    await jobs.resume_job(job_id, {"page": "/mine"}, outcome="event")
    await jobs.result(job_id)

    assert await jobs.texts() == ["/mine"]
