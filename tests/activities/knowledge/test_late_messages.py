"""Messages that arrive late: what is learned from those after them is replaced, once, and nothing that a person did."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.extraction import Extraction, Turn
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Steps, completion, numbered, said

FIRST = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Counting(EnglishExtractor):
    """The parser, which counts the messages that it reads, and lets something happen while it does."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.meanwhile: list[Callable[[], Awaitable[None]]] = []

    async def extract(self, turns: Sequence[Turn]) -> Extraction:
        self.read += [turn.source_id for turn in turns]
        extraction = await super().extract(turns)
        if self.meanwhile:
            await self.meanwhile.pop()()
        return extraction


class Agent:
    """A new agent, whose messages all are of one session."""

    def __init__(self, memory: Memory, settings: Settings) -> None:
        agent_id = uuid.uuid4().hex
        self.client = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=agent_id)
        self.extractor = Counting()
        self._memory, self._embedders = memory, Embedders(TokenVectorEmbedder())
        self._params = IngestInput(tenant_id=settings.tenant_id, agent_id=agent_id)

    async def extract(self) -> int:
        return (await ActivityEnvironment().run(self._worker().extract, self._params)).taken

    async def learn(self) -> int:
        return (await ActivityEnvironment().run(self._worker().learn, self._params)).taken

    def _worker(self) -> IngestActivities:
        """Each step is of another worker."""
        return IngestActivities(self._memory, extractor=self.extractor, embedders=self._embedders)

    async def tell(self, *messages: Resource) -> None:
        await self.client.ingest(messages)
        while await self.extract() + await self.learn():
            pass

    async def facts(self, *statuses: str) -> set[tuple[str, str, str]]:
        found, _ = await self.client.facts.list(statuses=statuses or ("active",), limit=100)
        return {(one.subject, one.predicate, one.object) for one in found}

    async def events(self) -> int:
        return len(await self.client.events.list(limit=1000))


def at(minute: int, text: str) -> Resource:
    return Resource(
        session_id="s",
        source_id=f"m{minute:02}",
        channel="chat",
        speaker="Ada",
        content=text,
        at=FIRST + timedelta(minutes=minute),
    )


@pytest.fixture
def eve(memory: Memory, settings: Settings) -> Agent:
    return Agent(memory, settings)


ELIN, NADIA = at(1, "My sister Elin is visiting."), at(2, "My aunt Nadia is here too.")
SHE = at(3, "She lives in Oslo.")
GHENT, GENK = at(1, "I live in Ghent."), at(2, "Sorry, I meant Genk.")


async def test_a_late_message_shows_whom_a_pronoun_means(eve: Agent) -> None:
    await eve.tell(at(0, "My friend Petra called."))
    await eve.tell(SHE)
    before = await eve.facts()
    await eve.tell(ELIN)

    after = await eve.facts()

    of_petra = {fact for fact in before if fact[1:] == ("lives_in", "Oslo")}
    assert {subject for subject, *_ in of_petra} == {"Petra (friend of Ada)"}
    assert not of_petra & after


async def test_a_retraction_takes_back_what_arrives_later(eve: Agent) -> None:
    await eve.tell(at(2, "Scratch that."))
    await eve.tell(GHENT)

    assert await eve.facts() == set()
    assert await eve.facts("archived") == {("Ada", "lives_in", "Ghent")}


async def test_a_second_delivery_changes_nothing(eve: Agent) -> None:
    await eve.tell(GENK)
    await eve.tell(GHENT)
    events, read = await eve.events(), len(eve.extractor.read)

    await eve.tell(GENK, GHENT)

    assert await eve.facts() == {("Ada", "lives_in", "Genk")}
    assert (await eve.events(), len(eve.extractor.read)) == (events, read)


async def test_a_late_message_has_no_more_than_the_next_eight_extracted_again(eve: Agent) -> None:
    await eve.tell(*(at(minute, f"We have {minute} plants.") for minute in range(2, 22)))
    eve.extractor.read.clear()

    await eve.tell(at(1, "Good morning."))

    assert sorted(eve.extractor.read) == ["m01", *(f"m{minute:02}" for minute in range(2, 10))]


async def test_what_arrives_in_its_order_is_extracted_once(eve: Agent) -> None:
    said = [at(minute, f"I like tea number {minute}.") for minute in range(12)]
    for message in said:
        await eve.tell(message)

    assert eve.extractor.read == [one.source_id for one in said]


async def test_a_message_that_arrives_while_the_next_is_extracted_is_part_of_it(
    eve: Agent,
) -> None:
    await eve.client.ingest([GENK])
    eve.extractor.meanwhile.append(lambda: eve.tell(GHENT))  # by another worker, to the end

    await eve.extract()
    await eve.tell()

    assert await eve.facts() == {("Ada", "lives_in", "Genk")}


async def test_two_workers_at_once_learn_the_same(eve: Agent) -> None:
    texts = ("I live in Ghent.", "Sorry, I meant Genk.", "I work at Acme.", "Oops, I meant Apex.")
    said = [at(number, text) for number, text in enumerate(texts)]

    async def worker() -> None:
        for _ in range(6):
            await eve.extract()
            await eve.learn()

    async def arrive() -> None:
        for message in reversed(said):
            await eve.client.ingest([message])

    await asyncio.gather(arrive(), worker(), worker())
    await eve.tell()

    assert await eve.facts() == {("Ada", "lives_in", "Genk"), ("Ada", "employer", "Apex")}


async def test_what_a_person_did_by_hand_stays(eve: Agent) -> None:
    await eve.tell(at(0, "My friend Petra called."), SHE)
    await eve.tell(at(8, "Petra lives in Lyon."))
    found, _ = await eve.client.facts.list(statuses=("archived",))
    (oslo,) = (fact for fact in found if fact.object == "Oslo")
    await eve.client.facts.add("Ada", "likes", "maps")
    await eve.client.facts.reactivate(oslo.id)

    await eve.tell(ELIN)

    assert {("Ada", "likes", "maps"), (oslo.subject, "lives_in", "Oslo")} <= await eve.facts()


async def test_messages_of_one_moment_are_in_the_order_of_their_ids(eve: Agent) -> None:
    first = GHENT.model_copy(update={"source_id": "B"})
    second = GENK.model_copy(update={"source_id": "a", "at": GHENT.at})
    await eve.tell(second)
    await eve.tell(first)

    assert await eve.facts() == {("Ada", "lives_in", "Genk")}


async def test_a_model_is_called_again_for_the_next_eight_alone(
    chat_server: Any, steps: Callable[..., Steps], ada: MemoryClient
) -> None:
    chat_server.answers = lambda *_: (200, completion('{"facts": []}'), {})
    await ada.ingest([said(number, f"Message {number}.") for number in range(1, 21)])
    await steps().extract()
    chat_server.requests.clear()
    await ada.ingest([said(0, "Message 0.")])

    while (await steps().extract()).taken:
        pass

    asked = [text for request in chat_server.requests for text in numbered(request["body"])]
    assert asked == [f"Message {number}." for number in range(9)]
