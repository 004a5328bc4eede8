"""The extractor that asks a model: facts as structured output, each with the words that state it.

What a model tells is not believed: its quotations are looked for in the messages, and what is not there is refused,
fact by fact.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Literal

from openai import AsyncOpenAI
from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.extraction_prompt import INSTRUCTION, VERSION, quotation
from mnestic.activities.clients.openai_completions import REASONING_TOKENS, Completions
from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.knowledge.entries import ReplacementReason
from mnestic.memory.knowledge.extraction import (
    Extracted,
    Extraction,
    ExtractionInput,
    Replaced,
    valid_claims,
)
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.spans import QuotedText
from mnestic.memory.models.messages import ChatMessage
from mnestic.memory.quotations import quoted

_TIMEOUT = timedelta(seconds=60)
# Input tokens of a message, with what is near: 260 in a batch of 16, 1,870 alone, 180 in 32. A refused batch is halved.
_BATCH = 16
_TOKENS_A_TURN = 256  # room for what one turn states, beside the words that it quotes
_MOST_TOKENS = 16_000  # of an answer; some models refuse more


class _Fact(BaseModel):
    """One fact, in the shape of the structured output."""

    model_config = ConfigDict(title="fact", coerce_numbers_to_str=True)

    message: int
    words: str
    kind: Literal["affirmed", "corrected", "ended", "retracted"]
    subject: str
    predicate: str
    object: str | None
    confidence: float
    valid_from: str | None
    valid_to: str | None


class _Change(BaseModel):
    """A message by which an earlier one is so no longer, in the shape of the structured output."""

    model_config = ConfigDict(title="change")

    message: int
    earlier: int
    kind: ReplacementReason


class _Facts(BaseModel):
    """The structured output of the model."""

    model_config = ConfigDict(title="list of facts")

    facts: list[_Fact]
    changes: list[_Change]


class _Answer(BaseModel):
    """The same as it is read: a fact or a change in another shape does not spoil the others."""

    model_config = ConfigDict(title="list of facts")

    facts: list[Any]
    changes: Any = None


class OpenAIExtractor:
    """Implements `mnestic.memory.ports.Extractor`."""

    batch = _BATCH
    reads_earlier = True

    def __init__(self, client: AsyncOpenAI, *, model: str, timeout: timedelta = _TIMEOUT) -> None:
        self.model = model
        self.name = f"openai-{VERSION}/{model}"
        self._completions = Completions(client, model=model, timeout=timeout)

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        """See the port. All turns are read by one call; without words in them no call is made."""
        given = [turn for turn in turns if turn.content.strip()]
        if not given:
            return Extraction(claims=((),) * len(turns), model=self.model)
        lines, numbered = quotation(given)
        words = count_tokens(quoted({"texts": [turn.content for turn in given]}))
        room = REASONING_TOKENS + _TOKENS_A_TURN * len(given) + words
        answer = await self._completions.create(
            (
                ChatMessage(role="system", content=INSTRUCTION),
                ChatMessage(role="user", content=lines),
            ),
            max_tokens=min(room, _MOST_TOKENS),
            structured=_Facts,
        )
        answered = self._completions.read(answer, _Answer)
        found, refused = await asyncio.to_thread(_by_turn, answered.facts, given)
        changes = answered.changes if isinstance(answered.changes, list) else []
        replaced, unknown = _replaced(changes, given, numbered)
        read = iter(found)
        return Extraction(
            claims=tuple(next(read) if turn.content.strip() else () for turn in turns),
            replaced=tuple(tuple(replaced.get(turn.place, {}).values()) for turn in turns),
            refused=refused + unknown,
            model=answer.model,
            usage=answer.usage,
        )


def _by_turn(
    facts: Sequence[Any], turns: Sequence[ExtractionInput]
) -> tuple[list[tuple[Extracted, ...]], int]:
    """What each turn claims in its own words, and how many facts had to be refused."""
    texts = {number: QuotedText(turn.content) for number, turn in enumerate(turns, 1)}
    found: dict[int, list[Extracted]] = {number: [] for number in texts}
    refused = 0
    for each in facts:
        try:
            fact = _Fact.model_validate(each)
            turn, text = turns[fact.message - 1], texts[fact.message]
            found[fact.message].append(_extracted(fact, turn, text))
        except (LookupError, ValueError):  # no such message, or no such fact
            refused += 1
    sound_ones = []
    for number, turn in enumerate(turns, 1):
        sound, faults = valid_claims(found[number], turn)
        sound_ones.append(sound)
        refused += len(faults)
    return sound_ones, refused


def _replaced(
    changes: Sequence[Any],
    turns: Sequence[ExtractionInput],
    numbered: Mapping[int, ExtractionInput],
) -> tuple[dict[Place, dict[Place, Replaced]], int]:
    """The earlier messages that each turn replaces, by the places of both, and how many were none that it was shown."""
    found: dict[Place, dict[Place, Replaced]] = defaultdict(dict)
    refused = 0
    for each in changes:
        try:
            change = _Change.model_validate(each)
            turn, earlier = numbered[change.message], numbered[change.earlier]
        except (LookupError, ValueError):
            refused += 1
            continue
        # Of messages of one time, the one with the lower number is the earlier.
        number = change.earlier if change.earlier <= len(turns) else 0
        is_later = (turn.at, change.message) > (earlier.at, number)
        if change.message > len(turns) or turn.place == earlier.place or not is_later:
            refused += 1
            continue
        found[turn.place].setdefault(earlier.place, Replaced(earlier.place, change.kind))
    return found, refused


def _extracted(fact: _Fact, turn: ExtractionInput, text: QuotedText) -> Extracted:
    """The fact, with the place of its words.

    Raises:
        ValueError: the turn does not say them, or a value is none that a fact can have.
    """
    span = text.find(fact.words)
    if span is None:
        raise ValueError("the words are not in the message")
    zone = turn.at.tzinfo
    return Extracted(
        kind=fact.kind,
        subject=fact.subject.strip(),
        predicate=fact.predicate,
        object=None if fact.object is None else fact.object.strip(),
        confidence=fact.confidence,
        valid_from=None if fact.valid_from is None else _moment(fact.valid_from, zone),
        valid_to=None if fact.valid_to is None else _moment(fact.valid_to, zone),
        span=span,
    )


def _moment(text: str, zone: tzinfo | None) -> datetime:
    """A day, a month or a year at its beginning, by the clock of who said it; or a moment as it is.

    Raises:
        ValueError: it is none.
    """
    missing = {4: "-01-01", 7: "-01"}.get(len(text), "")
    moment = datetime.fromisoformat(text + missing)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
