"""Jobs that speak with one reader: what a node is given they may read, and what follows from it is theirs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.errors import InvalidInputError, JobFailedError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.models.messages import ChatReply, TokenUsage
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.reader_episode import ROLES, SHORT, STRANGER, leaks, message, tell
from tests.workflows.conftest import Jobs, plan_of

PLAN = plan_of("for_reader")


class Parrot:
    """A chat model that says all that it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    async def reply(self, messages: Any, *, max_tokens: int) -> ChatReply:  # noqa: ARG002 - the port's
        self.given.append("\n".join(message.content for message in messages))
        usage = TokenUsage(input_tokens=1, output_tokens=1)
        return ChatReply(text=self.given[-1], model="test", usage=usage)


@pytest.fixture
async def parrot(
    client: MnesticClient, memory: PostgresMemory, settings: Settings
) -> AsyncIterator[Parrot]:
    """The model of a worker."""
    model = Parrot()
    models = QueryModels(Embedders(TokenVectorEmbedder()))
    activities = activities_of(
        memory,
        model=model,
        summariser=LocalSummariser(),
        auto=AutoRetriever(models=models, count_tokens=count_tokens),
    )
    async with make_worker(client.temporal, settings, activities=activities):
        yield model


async def everything(client: MnesticClient, reader: str) -> list[Any]:
    """All entries, facts and summaries that a reader may read."""
    memory = client.memory("ada", reader=reader)
    entries, _ = await memory.entries.list(EntryQuery(kinds=()), limit=1000)
    facts, _ = await memory.facts.list(limit=1000)
    episodes, _ = await memory.episodes.list()
    return [one.model_dump(mode="json") for one in (*entries, *facts, *episodes)]


@pytest.mark.parametrize(("role", "learn"), [("ben", "true"), ("nobody", "false")])
@pytest.mark.acceptance
async def test_a_job_gives_its_reader_nothing_of_others_and_others_nothing_of_its_reader(
    parrot: Parrot, jobs: Jobs, role: str, learn: str
) -> None:
    ada = await tell(jobs, "ada")
    await ada.records.set("safe", "password", "heron-22")
    reader = ROLES.get(role, STRANGER)
    for place, question in enumerate(SHORT):
        inputs = {"user": reader, "question": question}
        await jobs.run(
            PLAN.replace("learn: true", f"learn: {learn}"),
            inputs=inputs,
            job_id=f"j{place}",
            session_id=f"s{place}",
        )
    await (await start_ingest(jobs, agent_id="ada")).result()

    found = [
        (await ada.working_memory.get(f"s{place}")).variables["look"]
        for place, _ in enumerate(SHORT)
    ]
    asked = " ".join(SHORT)
    assert leaks([parrot.given, found], reader, but=asked) == []
    for other in {*ROLES.values(), STRANGER} - {reader}:
        seen = await everything(jobs, other)
        assert leaks(seen, other) == []
        assert "fern" not in str(seen)
        assert not any(one.get("kind") == "episode" for one in seen)
    own = await everything(jobs, reader)
    assert sum(one.get("kind") == "episode" for one in own) == len(SHORT)
    assert ("4471" in str(parrot.given)) == (role == "ben")


@pytest.mark.usefixtures("parrot")
async def test_what_no_reader_sees_is_not_recalled_beside_a_search_for_one(jobs: Jobs) -> None:
    search = "search: {question: Who?, reader: user.anna}"
    plan = f"name: p\nnodes: [{{id: look, kind: recall, {search}, episodes: {{}}, next: end}}]"

    with pytest.raises(InvalidInputError, match="a reader, who sees no records and no episodes"):
        await jobs.run(plan)


@pytest.mark.usefixtures("parrot")
async def test_readers_that_a_template_spoils_are_refused(jobs: Jobs) -> None:
    message = "message: {content: Hello., readers: ['${input.who}']}"
    plan = f"name: p\nnodes: [{{id: note, kind: remember, {message}, next: end}}]"

    with pytest.raises(JobFailedError, match=r"readers.*'two words' is no id or pattern"):
        await jobs.run(plan, inputs={"who": "two words"})


async def test_a_reader_gets_no_private_message_of_the_same_session(
    parrot: Parrot, jobs: Jobs
) -> None:
    said = {"hear": ("user.ben", "The key is in the shed."), "greet": ("*", "Hello, all.")}
    nodes = [
        f"{{id: {name}, kind: remember, message: {{content: '{text}', readers: ['{who}']}}, next: {to}}}"
        for (name, (who, text)), to in zip(said.items(), ("greet", "ask"), strict=True)
    ]
    ask = "{id: ask, kind: think, prompt: Where?, retrieve: {reader: user.anna}, next: end}"

    await jobs.run(f"name: p\nnodes: [{', '.join([*nodes, ask])}]")

    (given,) = parrot.given
    assert "Hello, all." in given
    assert "shed" not in given


@pytest.mark.parametrize(
    "node",
    [
        "kind: recall, search: {question: Where?, reader: '${input.who}'}",
        "kind: think, prompt: Where?, retrieve: {reader: '${input.who}'}",
    ],
)
async def test_a_reader_that_a_template_makes_null_is_refused(
    parrot: Parrot, jobs: Jobs, node: str
) -> None:
    await jobs.memory("ada").add("The key is in the shed.", readers=["user.ben"])

    with pytest.raises(JobFailedError, match="reader: is null"):
        await jobs.run(f"name: p\nnodes: [{{id: look, {node}, next: end}}]", inputs={"who": None})

    assert parrot.given == []


@pytest.mark.parametrize("kind", ["session", "channel"])
async def test_a_message_in_a_job_has_the_readers_of_its_session_or_channel(
    parrot: Parrot, jobs: Jobs, kind: Any
) -> None:
    place = {"session": "private", "channel": "hr"}[kind]
    await jobs.memory("ada").readers.set(kind, place, ["user.hr.*"])
    hear = (
        "{id: hear, kind: remember, message: {content: The bonus is 900., channel: hr}, next: ask}"
    )
    ask = "{id: ask, kind: think, prompt: How much?, retrieve: {reader: user.anna}, next: end}"

    await jobs.run(f"name: p\nnodes: [{hear}, {ask}]", session_id="private")

    (given,) = parrot.given
    assert "900" not in given


@pytest.mark.parametrize("learn", ["true", "false"])
async def test_a_tool_result_in_a_job_has_the_readers_of_its_session(
    parrot: Parrot, jobs: Jobs, learn: str
) -> None:
    hear = f"{{id: hear, kind: remember, learn: {learn}, message: {{content: What do I earn?, readers: [user.ben]}}, next: told}}"
    told = "{id: told, kind: remember, learn: true, message: {role: tool, content: Ben earns 5400 euros.}, next: ask}"
    ask = "{id: ask, kind: think, prompt: How much?, retrieve: {reader: user.anna}, next: end}"

    await jobs.run(f"name: p\nnodes: [{hear}, {told}, {ask}]")

    assert "5400" not in parrot.given[0]
    assert "5400" not in str(await everything(jobs, "user.anna"))
    assert "5400" in str(await everything(jobs, "user.ben"))


async def test_a_tool_result_has_the_readers_of_what_was_ingested_in_its_session(
    parrot: Parrot, jobs: Jobs
) -> None:
    asked = message(1, "Ben", "What do I earn?", ["user.ben"])
    await jobs.memory("ada").ingest([asked])
    hear = (
        "{id: hear, kind: remember, message: {content: And I?, readers: [user.anna]}, next: told}"
    )
    told = "{id: told, kind: remember, message: {role: tool, content: 5400 euros.}, next: ask}"
    ask = "{id: ask, kind: think, prompt: How much?, retrieve: {reader: user.anna}, next: end}"

    await jobs.run(f"name: p\nnodes: [{hear}, {told}, {ask}]", session_id=asked.session_id)

    assert "5400" not in parrot.given[0]
    for reader in ("user.anna", "user.ben"):
        assert "5400" not in str(await everything(jobs, reader))


@pytest.mark.usefixtures("parrot")
async def test_a_forked_session_has_the_readers_of_its_origin(jobs: Jobs) -> None:
    await jobs.memory("ada").readers.set("session", "private", ["user.ben"])
    hold = "{id: hold, kind: wait, key: go, ask: Go on?, timeout: 21d, on: {resumed: note, timeout: end}}"
    note = "{id: note, kind: remember, message: {content: The bonus is 900.}, next: end}"
    origin = await jobs.start(f"name: p\nnodes: [{hold}, {note}]", session_id="private")
    await jobs.until_state(origin, "waiting")

    forked = await jobs.fork_job(origin, session_id="other")
    await jobs.until_state(forked, "waiting")
    await jobs.resume_job(forked, {})
    await jobs.wait_for_result(forked)

    assert "900" in str(await everything(jobs, "user.ben"))
    assert "900" not in str(await everything(jobs, "user.anna"))
