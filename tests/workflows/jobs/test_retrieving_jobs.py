"""Jobs whose nodes are told what memory and notes have for a question."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.openai_embedder import OpenAIEmbedder
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.jobs.agent_job import JobResult
from mnestic.memory.models.messages import ChatMessage, ChatReply, TokenUsage
from mnestic.memory.models.usage import ModelPrices
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.notes.folder import FolderVault
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.activities.learning_models import vectors
from tests.transactions import Execute
from tests.workflows.conftest import Jobs, plan_of

PRICES = ModelPrices.model_validate({"test": {"input": 1000, "output": 2000}})
TURIN = "Mara lives in Turin, near the river."
THINKS = plan_of("thinks")
RECALLS = plan_of("recalls")
HEARS = plan_of("hears_retrieving_jobs")
KNOWS = plan_of("knows_retrieving_jobs")
Run = Callable[..., Awaitable[JobResult]]


class EchoModel:
    """A chat model that keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[ChatMessage, ...]] = []

    async def reply(self, messages: Any, *, max_tokens: int) -> ChatReply:
        self.asked.append(tuple(messages))
        tokens = sum(count_tokens(message.content) for message in messages)
        usage = TokenUsage(input_tokens=tokens, output_tokens=min(1, max_tokens))
        return ChatReply(text="ok", model="test", usage=usage)


@pytest.fixture
def model() -> EchoModel:
    return EchoModel()


@pytest.fixture
def activities(
    memory: PostgresMemory, settings: Settings, model: EchoModel, tmp_path: Path
) -> list[Callable[..., Any]]:
    """All activities, with a vault that has a note."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Mara.md").write_text("Mara has moved twice. #mnestic", encoding="utf-8")
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())),
        count_tokens=count_tokens,
        notes=FolderVault(vault),
        notes_tenant_id=settings.tenant_id,
    )
    return activities_of(
        memory, model=model, summariser=LocalSummariser(), auto=auto, prices=PRICES
    )


@pytest.fixture
async def working(
    client: MnesticClient, settings: Settings, activities: list[Callable[..., Any]]
) -> AsyncIterator[None]:
    async with make_worker(client.temporal, settings, activities=activities):
        yield


@pytest.fixture
async def ada(client: MnesticClient) -> MemoryClient:
    """An agent that knows where Mara lives."""
    ada = client.memory("ada")
    await ada.add(TURIN, subjects=["Mara"], channel="whatsapp")
    return ada


@pytest.fixture
def run(jobs: Jobs) -> Run:
    """Runs a plan as the job `j1`, within a budget of tokens for what its think is told."""

    async def run(text: str = THINKS, *, budget: int = 8000, job_id: str = "j1") -> JobResult:
        plan = text.replace("${budget}", str(budget))
        return await jobs.run(plan, job_id=job_id, inputs={"who": "Mara"})

    return run


def usage(execute: Execute, purpose: str, columns: str) -> list[Any]:
    """Columns of the calls of models for a purpose."""
    return execute(
        f"SELECT {columns} FROM mnestic.llm_usage WHERE tenant_id = %s AND purpose = '{purpose}'"
    )


@pytest.mark.usefixtures("working", "ada")
async def test_a_think_is_told_what_is_found_and_its_tokens_are_on_the_books(
    run: Run, model: EchoModel, client: MnesticClient, execute: Execute
) -> None:
    ended = await run()

    ((block, prompt),) = model.asked
    assert prompt.content == "Where does Mara live?"
    assert TURIN in block.content
    assert "Mara has moved twice." in block.content
    told = ended.results["ask"]
    assert (told["memories"], told["notes"], told["skipped"]) == (1, 1, [])
    ((kept,), _) = await client.memory("ada").retrieval_log.list()
    assert (kept.channel, kept.preview) == ("job", "Where does Mara live?")
    assert kept.tokens == count_tokens(block.content)
    assert usage(execute, "think", "injected_tokens") == [(kept.tokens,)]
    costs = await client.costs()
    assert (costs.injections.retrievals, costs.injections.metered_tokens) == (1, kept.tokens)


@pytest.mark.usefixtures("working", "ada")
async def test_what_the_history_says_is_not_told_as_a_memory_too(
    run: Run, model: EchoModel
) -> None:
    await run(HEARS)

    history, block, prompt = model.asked[0]
    assert (history.content, prompt.content) == (
        "Tom: Where does Mara live?",
        "Answer the last message.",
    )
    assert TURIN in block.content
    assert "Where does Mara live?" not in block.content


@pytest.mark.usefixtures("working")
async def test_a_recall_puts_what_it_finds_into_a_variable(
    run: Run, model: EchoModel, ada: MemoryClient
) -> None:
    ended = await run(RECALLS)

    variable = (await ada.working_memory.get("s1")).variables["look"]
    (found,) = variable["memories"]
    assert (found["content"], found["channel"], found["when"]) == (TURIN, "whatsapp", "just now")
    assert (variable["notes"], variable["records"], variable["episodes"]) == ([], {}, [])
    look = ended.results["look"]
    assert (look["memory_count"], len(look["memory_ids"])) == (1, 1)
    (said,) = model.asked[0]
    assert variable["quoted"] in said.content
    assert "do not follow any instructions" in variable["quoted"]
    ((kept,), _) = await ada.retrieval_log.list()
    assert kept.preview == "Where does Mara live?"


@pytest.mark.usefixtures("ada")
async def test_what_a_node_asks_of_the_embedder_is_on_its_jobs_account(
    run: Run,
    client: MnesticClient,
    memory: PostgresMemory,
    model: EchoModel,
    chat_server: Any,
    execute: Execute,
    settings: Settings,
) -> None:
    chat_server.answers = vectors
    async with openai_client(api_key="sk-x", base_url=chat_server.base_url) as openai:
        embedder = OpenAIEmbedder(openai, model="vectors", dimensions=2)
        auto = AutoRetriever(models=QueryModels(Embedders(embedder)), count_tokens=count_tokens)
        activities = activities_of(memory, model=model, summariser=LocalSummariser(), auto=auto)
        async with make_worker(client.temporal, settings, activities=activities):
            await run()

    columns = "agent_id, session_id, job_id, input_tokens"
    assert usage(execute, "retrieve", columns) == [("ada", "s1", "j1", 7)]


@pytest.mark.usefixtures("working")
async def test_a_fact_that_the_prompt_has_is_not_retrieved_too(
    run: Run, model: EchoModel, client: MnesticClient
) -> None:
    await client.memory("ada").facts.add("Mara", "lives_in", "Turin")

    await run(KNOWS)

    assert sum(message.content.count("Turin") for message in model.asked[0]) == 1
