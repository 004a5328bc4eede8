"""An endless stream of messages: the bundled conversation with other words, and statements of people about themselves.

The same seed gives the same messages. Words follow Zipf's law, so that an index of them is as one of
real text: a few words are in most messages, and new ones never cease.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.importers.conversations import bundled_conversation

_BLOCK = 1000  # messages that are made at once
_SESSION = 40
_BEGAN = datetime(
    2015, 1, 1, 8, tzinfo=UTC
)  # so long ago that the age of an entry is the same for all
_APART = timedelta(minutes=4)
_WORDS = 60_000
_LONG = 4  # letters of a word that may be another
_WORD = re.compile(r"[^\W\d_]+")
_PEOPLE = (
    *("Mara", "Jonas", "Ilse", "Pieter", "Nadia", "Tomas", "Ana", "Ugo", "Mila", "Bram"),
    *("Clara", "Dries", "Elif", "Femke", "Gustav", "Hanna", "Ivo", "Jana", "Karel", "Lotte"),
)
_PLACES = (
    *("Ghent", "Utrecht", "Deinze", "Antwerp", "Lisbon", "Porto", "Bruges", "Malmö", "Turin"),
    *("Leuven", "Oslo", "Vienna", "Prague", "Dublin", "Lyon", "Bilbao"),
)
_FIRMS = ("Brightwater", "Tidal Atlas", "Northwind", "Acme", "Apex", "Corvus", "Helios", "Quarry")
_THINGS = ("tea", "coffee", "maps", "trams", "olives", "chess", "jazz", "walnuts", "rye bread")
_PERSONAL_FORMS = (  # {a} and {b} are two of a kind: what changes, is corrected, ends and comes back
    (_PLACES, "I live in {a}."),
    (_PLACES, "I moved to {a} last month."),
    (_PLACES, "I moved from {a} to {b}."),
    (_PLACES, "Sorry, typo! I live in {a}, not {b}."),
    (_PLACES, "I no longer live in {a}."),
    (_FIRMS, "I work at {a}."),
    (_FIRMS, "I started at {a} on Monday."),
    (_FIRMS, "Correction: I work at {a}, not {b}."),
    (_FIRMS, "I left {a} in May."),
    (_THINGS, "I like {a}."),
    (_THINGS, "I don't like {a}."),
    (_THINGS, "I'm allergic to {a} and {b}."),
    (_THINGS, "My mistake, I'm allergic to {a}, not {b}."),
    (_THINGS, "I no longer drink {a}. Since Monday I drink {b}."),
    (_PEOPLE, "My sister {a} is visiting, and my friend {b} too."),
)


def messages(number: int, *, seed: int, telling: float = 0.1) -> Iterator[Resource]:
    """So many messages, the oldest first.

    Args:
        number: How many.
        seed: Whichever; the same one gives the same messages.
        telling: The share of them in which somebody tells something of himself.
    """
    for block in range(0, number, _BLOCK):
        chance = np.random.default_rng([seed, block])
        texts = _texts(chance, telling=telling)
        for place in range(min(_BLOCK, number - block)):
            index = block + place
            session = index // _SESSION
            yield Resource(
                session_id=f"session_{session}",
                source_id=f"m{index}",
                channel="benchmark",
                speaker=_PEOPLE[(session + index % 2) % len(_PEOPLE)],
                content=texts[place],
                at=_BEGAN + index * _APART,
            )


def _texts(chance: np.random.Generator, *, telling: float) -> list[str]:
    """A block of texts: one to five sentences each."""
    shapes = _shapes()
    lengths = chance.choice(5, size=_BLOCK, p=(0.15, 0.25, 0.25, 0.2, 0.15)) + 1
    picked = iter(chance.integers(len(shapes), size=int(lengths.sum())))
    chosen = [[shapes[next(picked)] for _ in range(length)] for length in lengths]
    gaps = sum(shape.count(None) for text in chosen for shape in text)
    words = iter(_draw(chance, gaps))
    is_personal = chance.random(_BLOCK) < telling
    return [
        _personal_message(chance) if report else " ".join(_filled(shape, words) for shape in text)
        for report, text in zip(is_personal, chosen, strict=True)
    ]


def _personal_message(chance: np.random.Generator) -> str:
    kind, form = _PERSONAL_FORMS[chance.integers(len(_PERSONAL_FORMS))]
    one, other = chance.choice(len(kind), size=2, replace=False)
    return form.format(a=kind[one], b=kind[other])


def _filled(shape: Sequence[str | None], words: Iterator[str]) -> str:
    return "".join(next(words) if part is None else part for part in shape)


def _draw(chance: np.random.Generator, number: int) -> list[str]:
    """Words by their rank, the n-th in proportion to 1/n."""
    words, until = _lexicon()
    return [words[rank] for rank in np.searchsorted(until, chance.random(number))]


@cache
def _shapes() -> list[tuple[str | None, ...]]:
    """The sentences of the bundled conversation; None is a word to replace.

    Names, and the words that come most often, stay: a sentence of others would be none.
    """
    texts = [turn.text for session in bundled_conversation().sessions for turn in session.turns]
    count = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    common = {word for word, _ in count.most_common(120)}
    sentences = [each for text in texts for each in re.split(r"(?<=[.!?])\s+", text)]
    return [
        tuple(
            None if word.islower() and word not in common and len(word) >= _LONG else word
            for word in re.findall(r"[^\W\d_]+|[\W\d_]+", sentence)
        )
        for sentence in sentences
    ]


@cache
def _lexicon() -> tuple[list[str], NDArray[np.float64]]:
    """Words, the most frequent first, and the share of all that each and those before it have.

    They are those of WordLlama's tokenizer, which numbers them by how often they come, and pairs of them.
    """
    config = files("wordllama").joinpath("tokenizers/l2_supercat_tokenizer_config.json")
    numbers: dict[str, int] = json.loads(config.read_text("utf-8"))["model"]["vocab"]
    tokens = sorted(numbers, key=lambda token: numbers[token])
    known = [token[1:] for token in tokens if re.fullmatch(rf"▁[a-z]{{{_LONG},}}", token)]
    pairs = (one + other for other, one in itertools.product(known, known))
    words = [*known, *itertools.islice(pairs, _WORDS - len(known))]
    shares = 1 / (np.arange(len(words)) + 2.7)
    return words, np.cumsum(shares / shares.sum())
