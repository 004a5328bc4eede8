"""Conversations: messages in their order, so that a pronoun, an answer, an end or a correction finds what it means before it.

What a turn claims depends on it and on the few messages right before it in its session, whatever else is in the batch.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from typing import NamedTuple

from mnestic.activities.clients.english.answers import statement_of
from mnestic.activities.clients.english.corrections import (
    corrections_of,
    may_correct,
    takes_back,
)
from mnestic.activities.clients.english.messages import MessageReader, states_nothing
from mnestic.activities.clients.english.parsing import LONGEST_TEXT, Parsed, parse, parser_memory
from mnestic.activities.clients.english.repairs import Repaired, repair
from mnestic.activities.clients.messages.machine_text import mask_machine_text
from mnestic.activities.clients.messages.tool_results import claims_of_result
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput
from mnestic.memory.knowledge.ingestion import CONTEXT_MESSAGES

_CORRECTABLE = 2  # messages of the speaker that a correction may mean
_RECENT = timedelta(hours=1)
_Place = tuple[str, str]


class _Text(NamedTuple):
    """A message as it is parsed after those before it; an answer with its question as a second text.

    `alone` is the message without any before it, as it is read for the messages after it: of what stands before these, the batch
    may hold more or less.
    """

    parsed: Parsed
    answer: Parsed | None
    alone: Parsed


def claims_of(
    turns: Sequence[ExtractionInput], *, check: Callable[[], None] = lambda: None
) -> tuple[tuple[Extracted, ...], ...]:
    """What each turn claims, in the order of the turns.

    Args:
        turns: The messages, with those before them.
        check: Is called before each message is parsed and before it is read; what it raises ends the work.
    """
    with parser_memory():
        conversations = _Conversations(turns, check)
        return tuple(map(conversations.claims_of, turns))


class _Conversations:
    """The sessions of some turns. Each message is parsed once, and read after others; alone only as far as those after it depend on it."""

    def __init__(self, turns: Sequence[ExtractionInput], check: Callable[[], None]) -> None:
        self._check = check
        before = {one.place: one for turn in turns for one in turn.before}
        everything = before | {turn.place: turn for turn in turns}
        self._sessions: dict[str, list[ExtractionInput]] = defaultdict(list)
        self._numbers: dict[_Place, int] = {}
        for turn in sorted(everything.values(), key=lambda turn: (turn.at, turn.source_id)):
            session = self._sessions[turn.session_id]
            self._numbers[turn.place] = len(session)
            session.append(turn)
        self._turns = [
            turn
            for session in self._sessions.values()
            for turn in session
            if turn.kind == "message"
        ]
        self._readers: dict[_Place, MessageReader] = {}
        self._read: dict[_Place, tuple[Extracted, ...]] = {}

    @cached_property
    def _texts(self) -> dict[_Place, _Text]:
        prepared = [(turn.content, _repaired(turn, self._context(turn))) for turn in self._turns]
        alone = [(turn.content, _repaired(turn, ())) for turn in self._turns]
        others = [
            one if one[1] != same[1] else None for one, same in zip(alone, prepared, strict=True)
        ]
        answers = [self._answer(turn) for turn in self._turns]
        joined = [(text, Repaired(text, tuple(range(len(text) + 1)))) for text in answers if text]
        parsed = iter(parse([*prepared, *joined, *filter(None, others)], check=self._check))
        own = [next(parsed) for _ in prepared]
        seconds = [next(parsed) if text else None for text in answers]
        firsts = [next(parsed) if one else text for one, text in zip(others, own, strict=True)]
        texts = map(_Text, own, seconds, firsts)
        return {turn.place: text for turn, text in zip(self._turns, texts, strict=True)}

    def _answer(self, turn: ExtractionInput) -> str | None:
        context = self._context(turn)
        is_asked = bool(context) and context[-1].speaker != turn.speaker
        return statement_of(context[-1].content, turn.content) if is_asked else None

    def _context(self, turn: ExtractionInput) -> list[ExtractionInput]:
        number = self._numbers[turn.place]
        earlier = self._sessions[turn.session_id][max(0, number - CONTEXT_MESSAGES) : number]
        return [one for one in earlier if one.kind == "message"]

    def claims_of(self, turn: ExtractionInput) -> tuple[Extracted, ...]:
        """What a turn claims, after the messages before it."""
        if turn.kind == "tool_result":
            return tuple(_once(claims_of_result(turn.content)))
        place = turn.place
        if place not in self._read:
            self._check()
            self._read[place] = self._claims_of(turn)
        return self._read[place]

    def _claims_of(self, turn: ExtractionInput) -> tuple[Extracted, ...]:
        context = self._context(turn)
        claims: Sequence[Extracted] = self._claims_after(turn, context)
        if self._may_correct(turn):
            claims = self._corrected(turn, claims, self._earlier_claims(turn, context))
        return tuple(_once(claims))

    def _earlier_claims(
        self, turn: ExtractionInput, context: Sequence[ExtractionInput]
    ) -> list[Sequence[Extracted]]:
        """What the same person has claimed just before, the latest first, without what has been taken back since."""
        said: list[tuple[ExtractionInput, Sequence[Extracted]]] = []
        for one in [*(each for each in context if each.speaker == turn.speaker), turn]:
            recent = [claims for each, claims in said if one.at - each.at <= _RECENT]
            before = recent[: -_CORRECTABLE - 1 : -1]
            if one is turn:
                break
            claims = self._corrected(one, self._alone(one).claims, before)
            wrong = {_key(each) for each in claims if each.kind == "retracted"}
            said = [(each, [c for c in old if _key(c) not in wrong]) for each, old in said]
            said.append((one, claims))
        return before

    def _corrected(
        self,
        turn: ExtractionInput,
        claims: Sequence[Extracted],
        before: Sequence[Sequence[Extracted]],
    ) -> Sequence[Extracted]:
        """The claims of a turn, or how they correct what was claimed just before."""
        if not self._may_correct(turn):
            return claims
        text = self._texts[turn.place].alone.repaired
        corrected = corrections_of(text.with_cues or text, claims, before)
        return claims if corrected is None else corrected

    def _may_correct(self, turn: ExtractionInput) -> bool:
        """Whether a turn has a sign that it corrects, which few have: only for them what was claimed before is read."""
        text = self._texts[turn.place].alone.repaired
        if states_nothing(text.text) and not takes_back(text.text):
            return False
        return may_correct(text.with_cues or text)

    def _alone(self, turn: ExtractionInput) -> MessageReader:
        place = turn.place
        if place not in self._readers:
            self._readers[place] = MessageReader(self._texts[place].alone, turn)
        return self._readers[place]

    def _claims_after(
        self, turn: ExtractionInput, context: Sequence[ExtractionInput]
    ) -> tuple[Extracted, ...]:
        """What a turn, or else the answer that it is, claims after the messages before it."""
        text = self._texts[turn.place]
        people = [self._alone(one).people for one in context]

        def known() -> list[Extracted]:
            return [claim for one in context for claim in self._alone(one).claims]

        claims = MessageReader(text.parsed, turn, people=people, known=known).claims
        if claims or text.answer is None:
            return claims
        answer = turn.model_copy(update={"content": text.answer.content})
        span = Span(start=0, end=len(turn.content.rstrip()))
        claims = MessageReader(text.answer, answer, people=people, known=known).claims
        return tuple(claim.model_copy(update={"span": span}) for claim in claims)


def _repaired(turn: ExtractionInput, before: Iterable[ExtractionInput]) -> Repaired:
    masked = mask_machine_text(turn.content[:LONGEST_TEXT], speaker=turn.speaker)
    names = {one.speaker for one in before} | {turn.speaker}
    return repair(masked, names={name for name in names if name[:1].isupper()})


def _once(claims: Iterable[Extracted]) -> list[Extracted]:
    """Each claim once, and none that is affirmed and taken back, or affirmed and ended, by the same message."""
    every = list(claims)
    so = {_key(one) for one in every if one.kind in {"affirmed", "corrected"}}
    slots = {key[:2] for key in so}
    found: dict[tuple[str, ...], Extracted] = {}
    for claim in every:
        is_moot = claim.kind == "ended" and (
            _key(claim) in so or (claim.object is None and _key(claim)[:2] in slots)
        )
        if not is_moot:
            found.setdefault((claim.kind, *_key(claim)), claim)
    return list(found.values())


def _key(claim: Extracted) -> tuple[str, str, str]:
    return name_key(claim.subject), claim.predicate, name_key(claim.object or "")
