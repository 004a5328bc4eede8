"""Extraction, summaries, replies and vectors by a real model, over the server that people run such models with.

What it answers is weak; that each request is accepted, and each answer stored, refused and paid for, is what counts.
"""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from mnestic.activities.clients.openai_compatible import check_models, openai_client
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.clients.remote_reranker import RemoteReranker
from mnestic.memory.errors import JobFailedError
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.ingestion import IngestCounts
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.models.errors import ModelMisconfiguredError, ModelRefusedError
from mnestic.memory.ports import Memory
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings
from mnestic.worker import activities_of, make_worker, open_models

pytestmark = pytest.mark.nightly

MODELS = Path(sys.prefix) / "models"  # `make nightly` installs it
KEY = "sk-local"
WIDTH = 640
SOON = timedelta(seconds=30)
GHENT, GDANSK = "I live in Ghent.", "I live in Gdansk."
LONG = "We walked along the river and back." + " And back again." * 700
ASKS = Path(__file__).with_name("asks.yaml").read_text("utf-8")
HEARS = Path(__file__).with_name("hears.yaml").read_text("utf-8")
Usage = Callable[[], list[tuple[str, str, bool, bool]]]
Serve = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture(scope="module")
def base_url(processes: Any) -> str:
    """The address of a server with a model; an answer ends with its line, and within the name Gdansk."""
    python = MODELS / "bin" / "python"
    assert python.exists(), "`make .venv/models/.installed` installs the model"
    program = Path(__file__).with_name("llama_server.py")
    server = processes.start(python, program, MODELS / "model.gguf", KEY, "\n", "Gda")
    server.until(lambda: server.out.endswith("\n"), what="the model")
    return f"{server.out.strip()}/v1"


@pytest.fixture
def chosen(settings: Settings, base_url: str) -> Settings:
    """Settings by which the model does all that a model can do."""
    return settings.model_copy(
        update={
            "openai_api_key": SecretStr(KEY),
            "openai_base_url": base_url,
            "chat_model": "gemma",
            "embedding_model": "gemma",
            "embedding_dimensions": WIDTH,
            "model_timeout_s": 120.0,  # a busy machine takes ten seconds to read a prompt
            "retrieval_timeout_s": 30.0,
        }
    )


@pytest.fixture
async def client(chosen: Settings) -> AsyncIterator[MnesticClient]:
    """A client of this test's tenant, and of the model."""
    async with await MnesticClient.connect(chosen) as client:
        yield client


@pytest.fixture
def serve(unembedded: Memory, client: MnesticClient, chosen: Settings) -> Serve:
    """Runs a worker as the settings choose it, for as long as a block."""

    @asynccontextmanager
    async def run() -> AsyncIterator[None]:
        async with open_models(chosen) as models:
            activities = activities_of(unembedded, **models)
            async with make_worker(client.temporal, chosen, activities=activities):
                yield

    return run


@pytest.fixture
def usage(admin_url: str, settings: Settings) -> Usage:
    """The calls that were written down: purpose and model, and whether tokens went in and came out."""

    def read() -> list[tuple[str, str, bool, bool]]:
        with psycopg.connect(admin_url) as connection:
            return connection.execute(
                "SELECT purpose, model, input_tokens > 0, output_tokens > 0 FROM mnestic.llm_usage "
                "WHERE tenant_id = %s ORDER BY id",
                [settings.tenant_id],
            ).fetchall()

    return read


def user_message(text: str, *, session_id: str) -> Resource:
    return Resource(
        session_id=session_id,
        source_id="m1",
        channel="chat",
        speaker="Mara",
        content=text,
        at=datetime(2026, 3, 2, 12, tzinfo=UTC),
    )


async def run(client: MnesticClient, plan: str, **values: Any) -> JobResult:
    parsed = parse_plan(plan, source="test")
    job_id = await client.start_job(parsed, agent_id="ada", session_id="s1", inputs=values)
    return await client.wait_for_result(job_id)


async def test_facts_and_vectors_are_stored_and_what_the_model_cannot_answer_is_parked(
    client: MnesticClient, serve: Serve, usage: Usage
) -> None:
    ada = client.memory("ada")
    texts = {"s1": GHENT, "s2": GDANSK, "s3": LONG}
    await ada.ingest([user_message(text, session_id=session) for session, text in texts.items()])

    async with serve(), asyncio.timeout(300):
        await (await start_ingest(client, agent_id="ada")).result()

    (fact,), _ = await ada.facts.list()
    _, (claim,) = await ada.facts.why(fact.id)
    parked, _ = await ada.parked.list()
    entries, _ = await ada.entries.list(EntryQuery())
    found = await ada.retrieve("Where is Mara at home?", mode="semantic", min_score=0)
    reasons = {one.resource.session_id: one.reason for one in parked}
    assert fact.object == "Ghent"
    assert (claim.source.session_id, claim.source.extractor) == ("s1", "openai-2/gemma")
    assert await ada.messages.count() == IngestCounts(learned=1, parked=2)
    assert set(reasons) == {"s2", "s3"}
    assert "another shape than was asked for" in reasons["s2"]
    assert re.search("exceeds the available context|too large to process", reasons["s3"])
    assert {entry.content for entry in entries} == {GHENT, GDANSK, LONG}
    assert (await ada.stats()).entries.embedded == {f"gemma-{WIDTH}": 3}
    assert {one.entry.content for one in found.results} >= {GHENT, GDANSK}
    assert Counter(usage()) == {
        # The answer that was stored; and those that were not, with the statement that is near and without it.
        ("extract", "gemma", True, True): 3,
        ("embed", "gemma", True, False): 2,
        ("retrieve", "gemma", True, False): 1,
    }


async def test_a_job_thinks_by_the_model_and_its_end_is_summarised(
    client: MnesticClient, serve: Serve, usage: Usage
) -> None:
    async with serve():
        await run(client, ASKS)

    state = await client.memory("ada").working_memory.get("s1")
    (episode,), _ = await client.memory("ada").episodes.list()
    assert state.messages[-1].content == "Paris."
    assert episode.summary.startswith("Job ")
    assert len(episode.summary.split(" completed. ")[1]) > 1
    assert usage() == [("think", "gemma", True, True), ("summarise", "gemma", True, True)]


async def test_a_reply_that_is_cut_off_fails_its_node_and_is_paid_for(
    client: MnesticClient, serve: Serve, usage: Usage
) -> None:
    async with serve():
        with pytest.raises(JobFailedError, match="cut off at 1 tokens"):
            await run(client, ASKS.replace("30", "1"))

    assert usage()[0] == ("think", "gemma", True, True)


async def test_a_job_ends_though_its_messages_exceed_the_context(
    client: MnesticClient, serve: Serve, usage: Usage
) -> None:
    async with serve():
        await run(client, HEARS, text=LONG)

    (episode,), _ = await client.memory("ada").episodes.list()
    assert episode.summary.endswith(" completed.")
    assert usage() == []


async def test_a_wrong_setting_and_a_wrong_request_differ(base_url: str) -> None:
    async with (
        openai_client(api_key=KEY, base_url=base_url) as client,
        openai_client(api_key="sk-other", base_url=base_url) as stranger,
    ):
        await check_models(client, ["gemma"], limit=SOON)

        with pytest.raises(ModelMisconfiguredError, match="it knows gemma"):
            await check_models(client, ["gamma"], limit=SOON)
        with pytest.raises(ModelMisconfiguredError, match="check the API key"):
            await OpenAIEmbedder(stranger, model="gemma", dimensions=WIDTH).embed([GHENT])
        with pytest.raises(ModelMisconfiguredError, match=f"have {WIDTH} dimensions"):
            await OpenAIEmbedder(client, model="gemma", dimensions=512).embed([GHENT])
        with pytest.raises(ModelMisconfiguredError, match="does not support reranking"):
            await RemoteReranker(client, model="gemma", timeout=SOON).rerank("Where?", [GHENT])
        with pytest.raises(ModelRefusedError, match="too large to process"):
            await OpenAIEmbedder(client, model="gemma", dimensions=WIDTH).embed([LONG])
