"""Messages: what auto-retrieval puts before a question with chatter around it.

It measures what comes by default settings, and that nothing comes where nobody knows the answer: each question also
goes to the memory of another conversation.
"""

import random
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from benchmarks.locomo.questions import Sample
from mnestic.starter.client.memory_client import MemoryClient

_FILE = Path(__file__).with_name("chatter.yaml")
_LENGTHS = (0, 10, 25, 60)  # words around the question
_TOLERANCE = 0.15  # of a length
_CHANNEL = "locomo"
_SEED = 7


class MessageFigures(BaseModel):
    """Shares of questions: some evidence was brought; and nothing was brought from the memory of others."""

    model_config = ConfigDict(frozen=True)

    brought: float
    empty_elsewhere: float


class AskedSample(NamedTuple):
    """A sample with its agent's memory, and the time at which it is asked."""

    sample: Sample
    memory: MemoryClient
    asked_at: datetime


class _Chatter(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    leads: list[str]
    tails: list[str]


async def measure_messages(asked: Sequence[AskedSample]) -> dict[str, MessageFigures]:
    """Puts each question, with chatter of each length around it, to its own memory and to the next one.

    Args:
        asked: The samples; there are at least two.
    """
    chatter = _Chatter.model_validate(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
    figures = {}
    for words in _LENGTHS:
        chance = random.Random(_SEED)  # noqa: S311 - the same messages in each run
        frames = [*_frames(chatter, words)]
        brought, empty = [], []
        for place, own in enumerate(asked):
            other = asked[(place + 1) % len(asked)]
            for question in own.sample.questions:
                lead, tail = chance.choice(frames)
                message = f"{lead} {question.text} {tail}".strip()
                brought.append(bool(await _sources(own, message) & question.evidence))
                empty.append(not await _sources(other, message))
        figures[str(words)] = MessageFigures(brought=_share(brought), empty_elsewhere=_share(empty))
    return figures


def _frames(chatter: _Chatter, words: int) -> Iterator[tuple[str, str]]:
    """What stands before and after a question, of about so many words."""
    for lead in ("", *chatter.leads):
        for tail in ("", *chatter.tails):
            length = len(lead.split()) + len(tail.split())
            if abs(length - words) <= _TOLERANCE * words:
                yield lead, tail


async def _sources(asked: AskedSample, message: str) -> set[str]:
    """The turns that are put before a message, by their source ids."""
    found = await asked.memory.auto_retrieve(message, _CHANNEL, asked_at=asked.asked_at)
    entries = [await asked.memory.entries.get(entry_id) for entry_id in found.entry_ids]
    return {entry.source_id for entry in entries if entry.source_id is not None}


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / len(flags), 4)
