"""The name that speakers state of themselves: a fact by hand about it is about the speaker."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Learn

GHENT = "I live in Ghent."


async def tell(ada: MemoryClient, learn: Learn, *texts: str, speaker: str | None = "user") -> None:
    """Adds messages of a speaker, of the agent itself without one, and learns from them."""
    for text in texts:
        await ada.add(text, speaker=speaker)
    await learn()


async def answers(ada: MemoryClient, question: str) -> list[str]:
    return [one.entry.content for one in (await ada.retrieve(question)).results]


async def homes(ada: MemoryClient) -> set[tuple[str, str]]:
    facts, _ = await ada.facts.list(predicate="lives_in")
    return {(fact.subject, fact.object) for fact in facts}


@pytest.mark.parametrize(
    ("speaker", "texts", "name"),
    [
        pytest.param(None, ("My name is Kim. I live in Ghent.",), "Kim", id="of the agent"),
        pytest.param(None, (GHENT, "By the way, my name is Rosa."), "Rosa", id="a later message"),
        pytest.param("user", (GHENT, "Call me Rosa."), "Rosa", id="a nickname"),
    ],
)
async def test_a_fact_about_the_stated_name_supersedes_what_the_speaker_said(
    ada: MemoryClient, learn: Learn, speaker: str | None, texts: tuple[str, ...], name: str
) -> None:
    await tell(ada, learn, *texts, speaker=speaker)

    await ada.facts.add(name, "lives_in", "Oslo")

    subject = speaker or "ada"
    assert await homes(ada) == {(subject, "Oslo")}
    assert await answers(ada, f"Where does {name.title()} live?") == [f"{subject} lives in Oslo."]
    assert (await answers(ada, "Where do I live?"))[0] == f"{subject} lives in Oslo."


async def test_what_the_speaker_says_later_supersedes_the_fact(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(ada, learn, "I'm Rosa. I live in Ghent.")
    await ada.facts.add("Rosa", "lives_in", "Oslo")

    await tell(ada, learn, "I live in Turku now.")

    assert await homes(ada) == {("user", "Turku")}
    assert await answers(ada, "Where does Rosa live?") == ["I live in Turku now."]


async def test_a_name_that_two_speakers_state_is_that_of_neither(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(ada, learn, "My name is Rosa. I live in Ghent.", speaker="rl1")
    await tell(ada, learn, "My name is Rosa. I live in Turku.", speaker="rb2")

    await ada.facts.add("Rosa", "lives_in", "Oslo")
    await tell(ada, learn, "My name is Rosa.", speaker="rb3")

    assert await homes(ada) == {("rl1", "Ghent"), ("rb2", "Turku"), ("Rosa", "Oslo")}


@pytest.mark.parametrize("text", ["My name's Kim.", None])
async def test_a_fact_about_a_name_belongs_to_who_states_it_later_or_is_given_it_by_hand(
    ada: MemoryClient, learn: Learn, text: str | None
) -> None:
    await tell(ada, learn, GHENT)
    await ada.facts.add("Kim", "lives_in", "Oslo")

    if text is None:
        await ada.facts.add("user", "preferred_name", "Kim")
    else:
        await tell(ada, learn, text)

    assert await homes(ada) == {("user", "Oslo")}
    assert await answers(ada, "Where does Kim live?") == ["user lives in Oslo."]
