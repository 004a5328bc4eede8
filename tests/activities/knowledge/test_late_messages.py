"""Messages that arrive late: what is learned from those after them is replaced, once, and nothing that a person did."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.memory.knowledge.extraction import Extraction, ExtractionInput
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Steps, said


class Counting(EnglishExtractor):
    """The parser, which counts the messages that it reads, and lets something happen while it does."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.meanwhile: list[Callable[[], Awaitable[None]]] = []

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        self.read += [turn.source_id for turn in turns]
        extraction = await super().extract(turns)
        if self.meanwhile:
            await self.meanwhile.pop()()
        return extraction


class Agent:
    """An agent whose messages all are of one session, and whose steps each are of another worker."""

    def __init__(self, client: MemoryClient, steps: Callable[..., Steps]) -> None:
        self.client, self.extractor, self._steps = client, Counting(), steps

    async def extract(self) -> int:
        return (await self._steps(extractor=self.extractor).extract()).taken

    async def learn(self) -> int:
        return (await self._steps(extractor=self.extractor).learn()).taken

    async def tell(self, *messages: Resource) -> None:
        await self.client.ingest(messages)
        while await self.extract() + await self.learn():
            pass

    async def facts(self, *statuses: str) -> set[tuple[str, str, str]]:
        found, _ = await self.client.facts.list(statuses=statuses or ("active",), limit=100)
        return {(one.subject, one.predicate, one.object) for one in found}

    async def events(self) -> int:
        return len(await self.client.events.list(limit=1000))


@pytest.fixture
def eve(ada: MemoryClient, steps: Callable[..., Steps]) -> Agent:
    return Agent(ada, steps)


ELIN, SHE = said(1, "My sister Elin is visiting."), said(3, "She lives in Oslo.")
GHENT, GENK = said(1, "I live in Ghent."), said(2, "Sorry, I meant Genk.")


async def test_a_late_message_shows_whom_a_pronoun_means(eve: Agent) -> None:
    await eve.tell(said(0, "My friend Petra called."))
    await eve.tell(SHE)
    before = await eve.facts()
    await eve.tell(ELIN)

    after = await eve.facts()

    of_petra = {fact for fact in before if fact[1:] == ("lives_in", "Oslo")}
    assert {subject for subject, *_ in of_petra} == {"Petra (friend of Mara)"}
    assert not of_petra & after


async def test_a_late_message_has_no_more_than_the_next_eight_extracted_again(eve: Agent) -> None:
    await eve.tell(*(said(minute, f"We have {minute} plants.") for minute in range(2, 22)))
    eve.extractor.read.clear()

    await eve.tell(said(1, "Good morning."))

    assert sorted(eve.extractor.read) == ["m001", *(f"m{minute:03}" for minute in range(2, 10))]


async def test_what_arrives_in_its_order_is_extracted_once(eve: Agent) -> None:
    for minute in range(12):
        await eve.tell(said(minute, f"I like tea number {minute}."))

    assert eve.extractor.read == [f"m{minute:03}" for minute in range(12)]


async def test_a_message_that_arrives_while_the_next_is_extracted_is_part_of_it(eve: Agent) -> None:
    await eve.client.ingest([GENK])
    eve.extractor.meanwhile.append(lambda: eve.tell(GHENT))  # by another worker, to the end

    await eve.extract()
    await eve.tell()

    assert await eve.facts() == {("Mara", "lives_in", "Genk")}


async def test_two_workers_at_once_learn_the_same(eve: Agent) -> None:
    texts = ("I live in Ghent.", "Sorry, I meant Genk.", "I work at Acme.", "Oops, I meant Apex.")
    messages = [said(number, text) for number, text in enumerate(texts)]

    async def worker() -> None:
        for _ in range(6):
            await eve.extract()
            await eve.learn()

    async def arrive() -> None:
        for message in reversed(messages):
            await eve.client.ingest([message])

    await asyncio.gather(arrive(), worker(), worker())
    await eve.tell()

    assert await eve.facts() == {("Mara", "lives_in", "Genk"), ("Mara", "employer", "Apex")}


async def test_what_a_person_did_by_hand_stays(eve: Agent) -> None:
    await eve.tell(said(0, "My friend Petra called."), SHE)
    await eve.tell(said(8, "Petra lives in Lyon."))
    found, _ = await eve.client.facts.list(statuses=("archived",))
    (oslo,) = (fact for fact in found if fact.object == "Oslo")
    await eve.client.facts.add("Mara", "likes", "maps")
    await eve.client.facts.reactivate(oslo.id)

    await eve.tell(ELIN)

    assert {("Mara", "likes", "maps"), (oslo.subject, "lives_in", "Oslo")} <= await eve.facts()
