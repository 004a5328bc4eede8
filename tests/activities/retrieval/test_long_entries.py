"""A long message is found among short ones by its best passage, however much stands around it."""

from datetime import UTC, datetime, timedelta
from itertools import cycle, islice

import pytest

from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.retrieval.auto_retrieval import LONGEST_MEMORY
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SHORT = (
    "The hinge squeaks again.",
    "Tea is in the blue tin.",
    "The bus stop has moved.",
    "We play cards on Sunday.",
    "They painted the corridor.",
    "The kettle trips the fuse.",
    "Please water the fern.",
    "The market was empty.",
)
FILLER = (
    "The meeting ran longer than planned, but everybody stayed until the end.",
    "Outside it had started to drizzle, and the street lamps came on early.",
    "I took the long way home because the bridge is being renewed.",
    "There was a queue at the bakery, so I bought apples at the stall instead.",
    "On the stairs I met the man from the second floor, who complained about the noise.",
    "We talked about the summer, about trains and about how expensive cheese has become.",
    "The soup turned out too salty, but with bread it was fine.",
)
KEY = "Oh, and the spare key hangs behind the third barrel."


def filler(least_chars: int) -> str:
    """Sentences with so many characters at least."""
    count = 0 if not least_chars else least_chars // min(map(len, FILLER)) + 1
    return " ".join(islice(cycle(FILLER), count))


async def ask(memory: MemoryClient, question: str) -> Retrieval:
    return await memory.retrieve(question, asked_at=NOON + timedelta(days=9), limit=4)


async def add_among_short_ones(memory: MemoryClient, text: str) -> None:
    for number, each in enumerate((*SHORT, text)):
        await memory.add(each, at=NOON + timedelta(hours=number))


@pytest.mark.parametrize(
    ("characters", "where"),
    [(200, "before"), (1000, "around"), (5000, "after"), (20_000, "around")],
)
async def test_a_sentence_is_found_in_a_text_of_any_length(
    ada: MemoryClient, characters: int, where: str
) -> None:
    around = filler(characters)
    text = f"{around * (where != 'after')} {KEY} {around * (where != 'before')}".strip()

    await add_among_short_ones(ada, text)

    for question in ("Where is the spare key?", "spare key", "behind which barrel is the key?"):
        best = (await ask(ada, question)).results[0]

        assert best.entry.content == text, question
        assert best.score >= 0.7, (question, best.signals)


async def test_words_far_apart_do_not_count_together(ada: MemoryClient) -> None:
    there = (
        "The spare tyre is flat.",
        "I lost a key.",
        "A barrel fell over.",
        "The cellar is damp.",
    )
    await add_among_short_ones(ada, f" {filler(2000)} ".join(there))

    found = await ask(ada, "Is the spare key behind the barrel in the cellar?")

    assert not [one.score for one in found.results if one.score >= 0.5]


async def quoted_before(memory: MemoryClient) -> str:
    """The best memory that is put before a question about the key."""
    asked_at = NOON + timedelta(days=9)
    found = await memory.auto_retrieve("Where is the spare key?", "chat", asked_at=asked_at)
    return found.memories[0].content


@pytest.mark.parametrize("others", ["short", "as long"])
async def test_what_matches_is_quoted_with_the_sentences_around_it(
    ada: MemoryClient, others: str
) -> None:
    await add_among_short_ones(ada, f"{filler(4000)} {KEY} {filler(4000)}")
    if others == "as long":
        for number, each in enumerate(SHORT):
            text = f"{filler(4000)} {each} {filler(4000)}"
            await ada.add(text, at=NOON + timedelta(days=1, hours=number))

    quoted = await quoted_before(ada)
    context = await ada.context_for_query("Where is the spare key?", max_tokens=2000)

    assert 800 <= len(quoted) <= LONGEST_MEMORY
    assert (quoted[:2], quoted[-2:]) == ("… ", " …")
    assert KEY in quoted
    assert set(split_sentences(quoted.strip("… "))) <= {KEY, *FILLER}
    assert quoted in context.text


async def test_the_passage_of_a_text_without_spaces_is_found(ada: MemoryClient) -> None:
    rain, cats = "昨日は雨が降りました。" * 200, "猫が寝ています。" * 200
    text = f"{rain}予備の鍵は樽の後ろにあります。{cats}"
    await add_among_short_ones(ada, text)

    best = (await ask(ada, "予備の鍵")).results[0]

    assert best.entry.content == text
    assert best.score >= 0.5
