"""A year of messages between Nora and an assistant, and forty questions about it, from `household_year.yaml`.

Most messages are small talk that repeats in kind; the rest are statements, some of which are made once, and values that change.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from mnestic.memory.knowledge.resources import Resource
from tests.starter.case_files import read_cases

BEGAN = datetime(2030, 1, 1, 6, tzinfo=UTC)
DAYS = 364  # 52 weeks
ASKED_AT = BEGAN + timedelta(days=DAYS)
SEED = 20_300_101
_A_DAY = 9  # messages beside the statements that the questions are about
_ASIDE_SHARE = 0.15  # of these: statements about others, most of which are made once
_READ: dict[str, Any] = read_cases(__file__, "household_year")


class Question(NamedTuple):
    """A question, a part of the message that answers it, and parts of messages that said otherwise before."""

    text: str
    answer: str
    outdated: Sequence[str] = ()


QUESTIONS = {
    "once": [Question(*said[:2]) for said in _READ["once"]],
    "current": [
        Question(one["question"], one["answer"], one["outdated"]) for one in _READ["current"]
    ],
    "other": [Question(*said[:2]) for said in _READ["other"]],
}
STATEMENTS = (
    *(said[2] for said in _READ["once"]),
    *(said for one in _READ["current"] for said in one["told"]),
    *(said[2] for said in _READ["other"]),
)


def messages_of(week: int) -> Iterator[Resource]:
    """The messages of a week, counted from 0: the same each time."""
    random = Random(SEED + week)
    for day in range(7 * week, 7 * week + 7):
        texts = [("Nora", said) for when, said in STATEMENTS if when == day]
        for _ in range(_A_DAY):
            texts.append(("Nora", _talk(random)))
            if random.random() < 0.2:
                texts.append(("Assistant", _filled(random, _READ["replies"])))
        random.shuffle(texts)
        for number, (speaker, text) in enumerate(texts):
            yield Resource(
                session_id=f"day {day}",
                source_id=f"{number}",
                channel="chat",
                speaker=speaker,
                content=text,
                at=BEGAN + timedelta(days=day, minutes=47 * number),
            )


def _talk(random: Random) -> str:
    if random.random() < _ASIDE_SHARE:
        return _filled(random, _READ["asides"])
    sentences = random.sample(_READ["talk"], random.choice((1, 2, 2, 3)))
    return " ".join(_filled(random, (one,)) for one in sentences)


def _filled(random: Random, templates: Sequence[str]) -> str:
    words = {slot: random.choice(text.split("|")) for slot, text in _READ["words"].items()}
    return random.choice(templates).format_map(words)
