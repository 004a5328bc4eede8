"""The name that speakers state of themselves: a fact by hand about it is about the speaker."""

from collections.abc import Awaitable, Callable

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

Learn = Callable[..., Awaitable[None]]


@pytest.fixture
def learn(memory: Memory, settings: Settings, ada: MemoryClient) -> Learn:
    """Adds messages of a speaker, of the agent itself without one, and learns from them."""
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")

    async def learn(*texts: str, speaker: str | None = None) -> None:
        for text in texts:
            await ada.add(text, speaker=speaker)
        await ActivityEnvironment().run(steps.extract, params)
        await ActivityEnvironment().run(steps.learn, params)

    return learn


async def answers(ada: MemoryClient, question: str) -> list[str]:
    return [one.entry.content for one in (await ada.retrieve(question)).results]


async def homes(ada: MemoryClient) -> set[tuple[str, str]]:
    facts, _ = await ada.facts.list(predicate="lives_in")
    return {(fact.subject, fact.object) for fact in facts}


@pytest.mark.parametrize("speaker", [None, "user"])
@pytest.mark.parametrize(
    ("texts", "name"),
    [
        pytest.param(("My name is Kim. I live in Ghent.",), "Kim", id="one message"),
        pytest.param(("Hi, I'm Kim.", "I live in Ghent."), "Kim", id="an earlier message"),
        pytest.param(
            ("I live in Ghent.", "By the way, my name is Rosa."), "Rosa", id="a later message"
        ),
        pytest.param(("I live in Ghent.", "Call me Rosa."), "Rosa", id="a nickname"),
        pytest.param(("My name is Rosa Lind. I live in Ghent.",), "Rosa Lind", id="a full name"),
        pytest.param(("My name is Rosa. I live in Ghent.",), "ROSA", id="in capitals"),
    ],
)
async def test_a_fact_about_the_stated_name_supersedes_what_the_speaker_said(
    ada: MemoryClient, learn: Learn, texts: tuple[str, ...], name: str, speaker: str | None
) -> None:
    await learn(*texts, speaker=speaker)

    await ada.facts.add(name, "lives_in", "Oslo")

    subject = speaker or "ada"
    assert await homes(ada) == {(subject, "Oslo")}
    assert await answers(ada, f"Where does {name.title()} live?") == [f"{subject} lives in Oslo."]
    assert (await answers(ada, "Where do I live?"))[0] == f"{subject} lives in Oslo."


async def test_what_the_speaker_says_later_supersedes_the_fact(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("I'm Rosa. I live in Ghent.", speaker="user")
    await ada.facts.add("Rosa", "lives_in", "Oslo")

    await learn("I live in Turku now.", speaker="user")

    assert await homes(ada) == {("user", "Turku")}
    assert await answers(ada, "Where does Rosa live?") == ["I live in Turku now."]


async def test_a_name_that_two_speakers_state_is_that_of_neither(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("My name is Rosa. I live in Ghent.", speaker="rl1")
    await learn("My name is Rosa. I live in Turku.", speaker="rb2")

    await ada.facts.add("Rosa", "lives_in", "Oslo")

    assert await homes(ada) == {("rl1", "Ghent"), ("rb2", "Turku"), ("Rosa", "Oslo")}


async def test_a_name_of_another_person_is_not_the_speaker_s(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("My name is Rosa. I live in Ghent.", speaker="user")

    await ada.facts.add("Rosalind", "lives_in", "Oslo")
    await ada.facts.add("Kim", "lives_in", "Bergen")

    assert await homes(ada) == {("user", "Ghent"), ("Rosalind", "Oslo"), ("Kim", "Bergen")}


async def test_another_name_by_hand_is_added_as_it_is_given(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("My name is Rosa.", speaker="user")

    (change,) = await ada.facts.add("Rosa", "also_known_as", "Roz")

    assert (change.fact.subject, change.fact.object) == ("Rosa", "Roz")


@pytest.mark.parametrize("text", ["My name's Kim.", "Kim here.", "I'm called Kim."])
async def test_a_fact_about_a_name_belongs_to_the_speaker_who_states_it_later(
    ada: MemoryClient, learn: Learn, text: str
) -> None:
    await learn("I live in Ghent.", speaker="user")
    await ada.facts.add("Kim", "lives_in", "Oslo")

    await learn(text, speaker="user")

    assert await homes(ada) == {("user", "Oslo")}
    assert await answers(ada, "Where does Kim live?") == ["user lives in Oslo."]


async def test_a_fact_about_a_name_belongs_to_whoever_is_given_it_by_hand(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("I live in Ghent.", speaker="user")
    await ada.facts.add("Kim", "lives_in", "Oslo")

    await ada.facts.add("user", "preferred_name", "Kim")

    assert await homes(ada) == {("user", "Oslo")}


async def test_what_messages_say_of_a_name_stays_with_it(ada: MemoryClient, learn: Learn) -> None:
    await learn("My friend Kim lives in Lyon.", speaker="rl1")

    await learn("My name is Kim. I live in Turku.", speaker="rb2")

    assert ("rb2", "Turku") in await homes(ada)
    assert "Lyon" in {home for subject, home in await homes(ada) if subject != "rb2"}


async def test_a_name_that_two_speakers_state_takes_no_fact_of_another(
    ada: MemoryClient, learn: Learn
) -> None:
    await learn("My name is Kim.", speaker="rl1")
    await learn("My name is Kim.", speaker="rb2")
    await ada.facts.add("Kim", "lives_in", "Oslo")

    await learn("My name is Kim.", speaker="rb3")

    assert await homes(ada) == {("Kim", "Oslo")}
