"""Collections of documents: written, found by their meaning, and removed, as the contract says."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import InvalidInputError, KeptOutError, NotFoundError
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.models.messages import Embeddings, RerankScores, TokenUsage
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import ClientScope, client_caller
from mnestic.starter.client.contract_memory import ContractMemory, open_contract
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.client.test_exports import learned
from tests.transactions import Execute

AGENT = "auditor"
TOPICS = ("titles", "images", "links", "speed", "robots")
TEXTS = {
    f"{topic}-{number}": f"Rule {number}: {text}"
    for topic, text in zip(
        TOPICS,
        (
            "a page title has at most sixty characters and names the subject",
            "each picture has a description for people who cannot see it",
            "a link says in its text where it leads",
            "a page loads within two seconds on a slow connection",
            "the file robots.txt says what a crawler may read",
        ),
        strict=True,
    )
    for number in range(4)
}


def collection(name: str = "guides", metric: str = "cosine", **schema: Any) -> dict[str, Any]:
    return {"collection_id": name, "similarity_metric": metric, "metadata_schema": schema}


def document(*collections: dict[str, Any], **vector: Any) -> dict[str, Any]:
    return {"Memory": {"vector": {"enabled": True, "collections": [*collections], **vector}}}


async def opened(client: MnesticClient, contract: dict[str, Any]) -> ContractMemory:
    await client.contracts().apply("*", contract)
    return await client.contract(AGENT)


async def fill(memory: ContractMemory, name: str = "guides") -> None:
    for document_id, text in TEXTS.items():
        topic, number = document_id.split("-")
        metadata = {"topic": topic, "number": int(number)}
        await memory.upsert(name, {"id": document_id, "content": text, "metadata": metadata})


def scores(metric: str, query: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """What the page says of scores, worked out for all vectors."""
    if metric == "euclidean":
        return 1 / (1 + np.sum((vectors - query) ** 2, axis=1))
    return (1 + vectors @ query) / 2


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
async def test_a_search_gives_the_nearest_by_its_metric(client: MnesticClient, metric: str) -> None:
    memory = await opened(client, document(collection(metric=metric)))
    await fill(memory)
    question = "How long may the title of a page be?"
    query = np.array(await memory.embed(question))
    vectors = np.array([await memory.embed(text) for text in TEXTS.values()])
    exact = dict(zip(TEXTS, scores(metric, query, vectors), strict=True))

    found = await memory.search(question, "guides", top_k=20)
    near = await memory.search(question, "guides", similarity_threshold=found[3].score)

    assert {one.id: one.score for one in found} == pytest.approx(exact, abs=2e-3)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert {one.id for one in near} == {f"titles-{number}" for number in range(4)}
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-3)


async def test_a_filter_never_starves_a_search(client: MnesticClient) -> None:
    memory = await opened(client, document(collection()))
    await fill(memory)
    robots = {
        "and": [{"field": "topic", "value": "robots"}, {"field": "number", "op": "lt", "value": 3}]
    }

    found = await memory.search("How long may a title be?", "guides", filter=robots, top_k=3)
    by_id = await memory.search("title", "guides", filter={"field": "$key", "value": "links-2"})
    none = await memory.search("title", "guides", filter={"field": "topic", "value": "none"})

    assert {one.id for one in found} == {"robots-0", "robots-1", "robots-2"}
    assert [one.id for one in by_id] == ["links-2"]
    assert none == ()


async def test_a_document_is_replaced_and_deleted_with_all_of_its_parts(
    client: MnesticClient, execute: Execute
) -> None:
    memory = await opened(client, document(collection()))
    long = "\n".join(
        f"# Chapter {n}\n\nThe {word} of the harbour.\n" for n, word in enumerate(TOPICS)
    )
    first = await memory.upsert(
        "guides", {"id": "harbour", "content": long, "source": "harbour.md"}
    )
    (found, *_) = await memory.search("robots of the harbour", "guides")
    second = await memory.upsert("guides", {"id": "harbour", "content": "Ships land here."})
    (left,) = await memory.search("robots of the harbour", "guides")
    await memory.delete_document("guides", "harbour")

    assert (first.parts, first.replaced, first.embedded) == (5, False, True)
    assert (found.content.strip(), found.place.part) == (
        "# Chapter 4\n\nThe robots of the harbour.",
        4,
    )
    assert found.place.headings == ("Chapter 4",)
    assert (found.place.source, found.place.line, found.place.page) == ("harbour.md", 17, None)
    assert (second.parts, second.replaced) == (1, True)
    assert (left.id, left.content) == ("harbour", "Ships land here.")
    assert await memory.search("harbour", "guides") == ()
    for table in ("document", "entry", "embedding", "posting", "entry_term"):
        assert execute(f"SELECT count(*) FROM mnestic.{table} WHERE tenant_id = %s") == [(0,)]
    with pytest.raises(NotFoundError):
        await memory.delete_document("guides", "harbour")


async def test_documents_are_apart_from_the_memory_of_their_agent(client: MnesticClient) -> None:
    memory = await opened(client, document(collection(), collection("notes")))
    agent = client.memory(AGENT)
    await agent.add("Mara says that a page title has at most sixty characters.")
    question = "How long may the title of a page be?"
    before = await agent.retrieve(question, min_score=0)
    await fill(memory)
    other = await client.contract("crawler")
    ((summary,), _) = await client.list_agents()

    assert (await agent.retrieve(question, min_score=0)).results == before.results
    assert await memory.search(question, "notes") == ()
    assert await other.search(question, "guides") == ()
    assert (summary.agent_id, summary.entries) == (AGENT, 1)


async def test_what_does_not_fit_the_contract_is_refused(client: MnesticClient) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date"}}}
    memory = await opened(client, document(collection(**schema)))
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("guides", {"id": "a", "content": "b", "metadata": {"at": "soon"}}, "metadata"),
        ("guides", {"id": "a", "content": " \n "}, "no content"),
        ("guides", {"id": "", "content": "b"}, "id"),
        ("other", {"id": "a", "content": "b"}, "there are guides"),
    )

    for name, doc, why in wrong:
        with pytest.raises(InvalidInputError, match=why):
            await memory.upsert(name, doc)

    assert await memory.search("b", "guides") == ()
    with pytest.raises(InvalidInputError, match="no contract with vector memory"):
        await (await opened(client, {"Memory": {}})).embed("a")


async def test_a_model_that_the_deployment_lacks_is_refused(client: MnesticClient) -> None:
    large = {"model": "text-embedding-3-large", "dimensions": 3072}
    memory = await opened(client, document(collection(), embeddings=large))
    there = await opened(
        client, document(collection(), embeddings={"model": "wordllama", "dimensions": 256})
    )

    with pytest.raises(InvalidInputError, match="text-embedding-3-large of 3072 dimensions"):
        await memory.upsert("guides", {"id": "a", "content": "b"})
    assert len(await there.embed("a title")) == 256


async def test_results_are_reranked_if_the_contract_or_the_caller_says_so(
    client: MnesticClient,
) -> None:
    memory = await opened(
        client, document(collection(), retrieval={"top_k": 2, "rerank_enabled": True})
    )
    named = await opened(client, document(collection(), retrieval={"rerank_model": "ranker-9"}))
    await fill(memory)

    reranked = await memory.search("robots.txt crawler", "guides")
    plain = await memory.search("robots.txt crawler", "guides", rerank=False)

    assert [one.id[:6] for one in reranked] == ["robots"] * 2
    assert all(one.relevance is not None for one in reranked)
    assert [one.relevance for one in plain] == [None, None]
    with pytest.raises(InvalidInputError, match="ranker-9"):
        await named.search("robots", "guides", rerank=True)


@pytest.mark.usefixtures("worker")
async def test_a_document_of_a_suppressed_topic_is_refused(client: MnesticClient) -> None:
    memory, agent = await opened(client, document(collection())), client.memory(AGENT)
    await memory.upsert("guides", {"id": "a", "content": "Otilia wrote the guide to titles."})
    shown = await agent.preview_forget("Otilia")
    await agent.forget("Otilia", confirm=shown.token, keep_out=True)

    assert await memory.search("guide to titles", "guides") == ()
    for doc in (
        {"id": "b", "content": "Otilia called."},
        {"id": "c", "content": "She called.", "metadata": {"by": "Otilia"}},
    ):
        with pytest.raises(KeptOutError):
            await memory.upsert("guides", doc)


def open_transactions(admin_url: str) -> int:
    with psycopg.connect(admin_url) as owner:
        (found,) = owner.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'"
        ).fetchone() or (0,)
    return int(found)


class Watching(TokenVectorEmbedder):
    """A model that counts the transactions that are open while it is asked; it reads results again as well."""

    def __init__(self, admin_url: str) -> None:
        super().__init__()
        self._admin_url, self.seen = admin_url, list[int]()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        self.seen.append(open_transactions(self._admin_url))
        return await super().embed(texts)

    async def rerank(self, question: str, texts: Sequence[str]) -> RerankScores:
        self.seen.append(open_transactions(self._admin_url))
        relevances = tuple(float(question in text) for text in texts)
        usage = TokenUsage(input_tokens=0, output_tokens=0)
        return RerankScores(relevances=relevances, model=self.name, usage=usage)


async def test_models_are_called_outside_of_transactions(
    client: MnesticClient, memory: Memory, admin_url: str
) -> None:
    await client.contracts().apply("*", document(collection()))
    caller = client_caller(memory, tenant_id=client.settings.tenant_id, agent_id=AGENT)
    watching = Watching(admin_url)
    models = QueryModels(Embedders(watching), rerankers={"local": watching})
    guides = await open_contract(
        ClientScope(caller=caller, models=models, count_tokens=count_tokens), session_id=None
    )

    await guides.upsert("guides", {"id": "a", "content": "A title is short."})
    await guides.embed("title")
    await guides.search("title", "guides")
    (found,) = await guides.search("title", "guides", rerank=True)

    assert (found.relevance, watching.seen) == (1, [0] * 5)


class AwayEmbedder(TokenVectorEmbedder):
    """A model that does not answer."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        raise ModelUnavailableError(model=self.name, why=f"is away from {len(texts)} texts")


@pytest.mark.usefixtures("worker")
async def test_a_document_without_vectors_gets_them_once_the_model_is_there(
    client: MnesticClient, memory: Memory
) -> None:
    here = await opened(client, document(collection()))
    caller = client_caller(memory, tenant_id=client.settings.tenant_id, agent_id=AGENT)
    models = QueryModels(Embedders(AwayEmbedder()))
    away = await open_contract(
        ClientScope(caller=caller, models=models, count_tokens=count_tokens), session_id=None
    )
    stored = await away.upsert("guides", {"id": "a", "content": "A title is short."})
    before = await here.search("title", "guides")
    with pytest.raises(ModelUnavailableError):
        await away.search("title", "guides")
    await learned(client, AGENT)

    assert (stored.embedded, before) == (False, ())
    assert [one.id for one in await here.search("title", "guides")] == ["a"]
