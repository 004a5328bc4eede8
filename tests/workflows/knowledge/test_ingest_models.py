"""Learning from messages by models that answer over HTTP, as the workflow does it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from temporalio.client import WorkflowExecutionStatus

from mnestic.memory.errors import ExtractionPausedError
from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.ports import Memory
from mnestic.starter.client.ingest_status import find_delay, wait_for_end
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.worker import activities_of, make_worker, open_models
from tests.activities.learning_models import Answer, completion, read, said, texts_of, vectors
from tests.transactions import Execute
from tests.workflows.conftest import Until

SOON = timedelta(milliseconds=200)
Serve = Callable[..., AbstractAsyncContextManager[None]]
TEXTS = ("I live in Ghent.", "Hm.", "It rains.")
AWFUL = "Something awful."


def api(path: str, body: Any) -> Answer:
    """Answers both APIs."""
    if path.endswith("/embeddings"):
        return vectors(path, body)
    if AWFUL in texts_of(body):
        return 200, completion("", finish_reason="content_filter"), {}
    return read(path, body)


@pytest.fixture
def chosen(settings: Settings, chat_server: Any) -> Settings:
    """Settings by which models answer on the loopback server."""
    return settings.model_copy(
        update={
            "openai_api_key": SecretStr("sk-x"),
            "openai_base_url": chat_server.base_url,
            "extraction_model": "reader",
            "embedding_model": "vectors",
            "embedding_dimensions": 2,
        }
    )


@pytest.fixture
async def client(chosen: Settings) -> AsyncIterator[MnesticClient]:
    """A client of this test's tenant, and of the models."""
    async with await MnesticClient.connect(chosen) as client:
        yield client


@pytest.fixture
def serve(memory: Memory, client: MnesticClient, chosen: Settings) -> Serve:
    """Runs a worker with the models, and with other settings as a test wants them."""

    @asynccontextmanager
    async def run(**fields: Any) -> AsyncIterator[None]:
        settings = chosen.model_copy(update=fields)
        async with open_models(settings) as models:
            models["limits"] = models["limits"].model_copy(update={"recheck": SOON})
            activities = activities_of(memory, **models)
            async with make_worker(client.temporal, settings, activities=activities):
                yield

    return run


async def receive(client: MnesticClient, *texts: str) -> None:
    await client.memory("ada").ingest([said(number, text) for number, text in enumerate(texts)])


async def until_held(client: MnesticClient, until: Until, *, why: str) -> None:
    async def is_held() -> bool:
        delay = await find_delay(client, agent_id="ada")
        return delay is not None and delay.is_paused and why in delay.why

    await until(is_held)


async def until_learned(client: MnesticClient, until: Until, number: int) -> None:
    async def is_learned() -> bool:
        return (await client.memory("ada").messages.count()).learned == number

    await until(is_learned)


async def test_messages_become_facts_entries_and_vectors_by_models(
    client: MnesticClient, serve: Serve, chat_server: Any, execute: Execute
) -> None:
    failures: list[Answer] = [
        (429, {"error": {"message": "slow down"}}, {"retry-after-ms": "300"}),
        (500, {"error": {"message": "oh"}}, {}),
        (200, {"choices": [], "model": "reader"}, {}),
    ]

    def fails_first(path: str, body: Any) -> Answer:
        return failures.pop(0) if failures and "messages" in body else api(path, body)

    chat_server.answers = fails_first
    await receive(client, *TEXTS, AWFUL)
    async with serve():
        await (await start_ingest(client, agent_id="ada")).result()

    ada = client.memory("ada")
    (fact,), _ = await ada.facts.list()
    _, (claim,) = await ada.facts.why(fact.id)
    parked, _ = await ada.parked.list()
    usage = execute(
        "SELECT purpose, count(*) FROM mnestic.llm_usage WHERE tenant_id = %s GROUP BY 1 ORDER BY 1"
    )
    asked = [request["path"] for request in chat_server.requests]
    assert (fact.predicate, fact.object) == ("lives_in", "Ghent")
    assert (claim.source.extractor, claim.source.session_id) == ("openai-2/reader", "s1")
    assert [message.resource.content for message in parked] == [AWFUL]
    assert (await ada.stats()).entries.embedded == {"vectors-2": 4}
    assert usage == [("embed", 1), ("extract", asked.count("/v1/chat/completions") - 3)]
    assert chat_server.requests[0]["authorization"] == "Bearer sk-x"


async def test_a_wrong_key_is_seen_and_learning_goes_on_once_it_is_mended(
    client: MnesticClient, serve: Serve, chat_server: Any
) -> None:
    chat_server.answers = lambda *_: (401, {"error": {"message": "bad key"}}, {})
    await receive(client, *TEXTS)

    async with serve():
        handle = await start_ingest(client, agent_id="ada")
        with pytest.raises(ExtractionPausedError, match="bad key; check the API key"):
            await wait_for_end(client, handle, report=lambda _: None)
        waiting = await client.memory("ada").messages.count()
        chat_server.answers = api
        done = await wait_for_end(client, handle, report=lambda _: None)

    assert waiting == IngestCounts(received=3)
    assert done.learned == 3
    assert await find_delay(client, agent_id="ada") is None
    assert await client.memory("ada").messages.count() == IngestCounts(learned=3)


@pytest.mark.acceptance
async def test_learning_goes_on_in_a_new_run_once_its_history_is_long(
    client: MnesticClient, serve: Serve, chat_server: Any, until: Until
) -> None:
    async def is_first() -> bool:
        return (await first.describe()).status == WorkflowExecutionStatus.RUNNING

    down = (500, {"error": {"message": "oh"}}, {})
    chat_server.answers = lambda path, body: down if "embeddings" in path else api(path, body)
    sent = 1

    async with serve():
        await client.memory("ada").ingest(
            [said(0, "Hm, 0?")]
        )  # a run with nothing to do ends at once
        handle = await start_ingest(client, agent_id="ada")
        run_id = (await handle.describe()).run_id
        first = client.temporal.get_workflow_handle(handle.id, run_id=run_id)
        while await is_first():  # the model of vectors is down all the time
            await client.memory("ada").ingest([said(sent, f"Hm, {sent}?")])
            await start_ingest(client, agent_id="ada")
            sent += 1
            await until_learned(client, until, sent)
        chat_server.answers = api
        await handle.result()

    assert (await first.describe()).status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert await client.memory("ada").messages.count() == IngestCounts(learned=sent)
    assert (await client.memory("ada").stats()).entries.embedded == {"vectors-2": sent}


async def test_learning_waits_when_the_days_budget_is_used_up_and_goes_on_when_it_is_raised(
    client: MnesticClient, serve: Serve, chat_server: Any, until: Until
) -> None:
    chat_server.answers = api
    await receive(client, *TEXTS)
    async with serve(extraction_tokens_per_day=115):
        await (await start_ingest(client, agent_id="ada")).result()
        await client.memory("ada").ingest([said(9, "Hm?")])
        await start_ingest(client, agent_id="ada")
        await until_held(client, until, why="117 of 115 tokens")
        held = await client.memory("ada").messages.count()

    # a worker with another limit
    async with serve(extraction_tokens_per_day=100_000):
        await (await start_ingest(client, agent_id="ada")).result()

    assert held == IngestCounts(received=1, learned=3)
    assert await client.memory("ada").messages.count() == IngestCounts(learned=4)
