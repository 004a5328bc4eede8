"""A long message is found among short ones by its best passage, however much stands around it."""

from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

import pytest
import yaml

from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.retrieval.auto_retrieval import LONGEST_MEMORY
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
TEXTS = yaml.safe_load(Path(__file__).with_name("long_entries.yaml").read_text("utf-8"))
SHORT, FILLER = TEXTS["short"], TEXTS["filler"]
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
