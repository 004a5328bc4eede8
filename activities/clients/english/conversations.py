"""Conversations: messages in their order, so that a pronoun or a correction finds what it means before it.

It stands apart from the reading of one message, which knows nothing of others but the people before it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mnestic.activities.clients.english.lexicon import Grammar, load_lexicon
from mnestic.activities.clients.english.messages import Read, read_message, states_anything
from mnestic.activities.clients.english.parsing import Parsed, parse, parser_memory
from mnestic.activities.clients.english.people import Person
from mnestic.activities.clients.english.spelling import Spelled, leave_out, spell_out
from mnestic.activities.clients.messages.tool_results import claims_of_result
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.corrections.correcting_claims import amended_claims, correcting_claims
from mnestic.memory.knowledge.corrections.signs import (
    amendment_spans,
    contrast_spans,
    is_amendment,
    may_correct,
    without_signs,
)
from mnestic.memory.knowledge.extraction import Extracted, Turn
from mnestic.memory.knowledge.ingestion import CONTEXT_MESSAGES

_REMEMBERED = 3  # messages whose people a pronoun may mean
_CORRECTABLE = 3  # messages of the speaker that a correction may mean
_Claims = tuple[Extracted, ...]


@dataclass
class _Session:
    people: list[tuple[Person, ...]] = field(default_factory=list)
    claims: dict[str, list[tuple[Extracted, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )


class _Text(NamedTuple):
    """A message as it is parsed, and the places of its parts in the message as it was written.

    `corrects` says whether it may correct another, and `has_pronoun` whether it means somebody by one.
    """

    parsed: Parsed
    spelled: Spelled
    left: Spelled
    corrects: bool
    has_pronoun: bool

    def may_mean(self, person: Person) -> bool:
        """Whether somebody whom messages before have named may be meant."""
        text = self.parsed.text.casefold()
        names = (person.called, *person.subject.split())
        return self.has_pronoun or any(name and name.casefold() in text for name in names)

    def placed(self, claim: Extracted) -> Extracted:
        """A claim with its span in the message as it was written."""
        return _placed(_placed(claim, self.spelled), self.left)


def claims_of(turns: Sequence[Turn]) -> tuple[tuple[Extracted, ...], ...]:
    """What each turn claims, in the order of the turns.

    It depends on the turn and on the few messages right before it in its session, those of `before` or other turns.
    """
    with parser_memory():
        conversations = _Conversations(_with_earlier(turns))
        return tuple(map(conversations.claims_of, turns))


class _Conversations:
    """The sessions of some turns. Each message is parsed once, and is read once with the same people before it."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._lexicon = load_lexicon()
        self._sessions: dict[str, list[Turn]] = defaultdict(list)
        self._numbers: dict[tuple[str, str], int] = {}
        for turn in turns:
            session = self._sessions[turn.session_id]
            self._numbers[_place(turn)] = len(session)
            session.append(turn)
        spoken = [turn for turn in turns if turn.kind == "message"]
        self._texts = _texts_of(spoken, grammar=self._lexicon.grammar)
        self._amendable: dict[tuple[str, str], _Text] = {}
        self._reads: dict[tuple[tuple[str, str], tuple[Person, ...]], tuple[Read, _Claims]] = {}

    def claims_of(self, turn: Turn) -> tuple[Extracted, ...]:
        """What a turn claims, after the messages before it."""
        if turn.kind == "tool_result":
            return tuple(_once(claims_of_result(turn.content)))
        number = self._numbers[_place(turn)]
        context = self._sessions[turn.session_id][max(0, number - CONTEXT_MESSAGES) : number]
        session = _Session()
        for earlier in context:
            if earlier.kind == "message":
                self._take(earlier, session)
        return self._take(turn, session)

    def _take(self, turn: Turn, session: _Session) -> tuple[Extracted, ...]:
        """What a message claims after those of the session, which it joins."""
        read, claims = self._read(turn, session)
        if self._texts[_place(turn)].corrects and (read.is_stated or _is_amendment(turn)):
            claims = tuple(_once([*claims, *_corrections(turn, claims, session)]))
        session.people.append(read.people)
        session.claims[turn.speaker].append(claims)
        return claims

    def _read(self, turn: Turn, session: _Session) -> tuple[Read, _Claims]:
        """What a message says after those of the session, but for what it corrects."""
        text = self._texts[_place(turn)]
        people = tuple(
            person
            for each in session.people[-_REMEMBERED:]
            for person in each
            if text.may_mean(person)
        )
        key = (_place(turn), people)
        if key not in self._reads:
            self._reads[key] = self._amended(turn, people) or _read(turn, text, people)
        return self._reads[key]

    def _amended(self, turn: Turn, people: tuple[Person, ...]) -> tuple[Read, _Claims] | None:
        """What a message says that corrects itself; None if it does not, or if it is not understood."""
        parts = amendment_spans(turn.content)
        if not parts:
            return None
        place = _place(turn)
        if place not in self._amendable:
            self._amendable[place] = _text_of(turn, parts, grammar=self._lexicon.grammar)
        read, claims = _read(turn, self._amendable[place], people)
        for part in parts:
            amended = amended_claims(turn.content, claims, part)
            if amended is None:
                return None
            claims = amended
        return read, claims


def _read(turn: Turn, text: _Text, people: tuple[Person, ...]) -> tuple[Read, _Claims]:
    reading = turn.model_copy(update={"content": text.spelled.text})
    read = read_message(text.parsed, reading, earlier=people, lexicon=load_lexicon())
    return read, tuple(text.placed(claim) for claim in _once(read.claims))


def _is_amendment(turn: Turn) -> bool:
    """Whether a message says nothing but the right value: "Oops, I mean Bosch"."""
    words = without_signs(turn.content)
    is_stated = states_anything(turn.model_copy(update={"content": words}))
    return is_stated and is_amendment(turn.content)


def _texts_of(turns: Sequence[Turn], *, grammar: Grammar) -> dict[tuple[str, str], _Text]:
    left = [leave_out(turn.content, contrast_spans(turn.content)) for turn in turns]
    spelled = [spell_out(each.text) for each in left]
    parsed = [*parse([each.text for each in spelled])]
    texts = zip(turns, parsed, zip(spelled, left, strict=True), strict=True)
    return {
        _place(turn): _prepared(turn, each, both, grammar=grammar) for turn, each, both in texts
    }


def _text_of(turn: Turn, parts: Sequence[Span], *, grammar: Grammar) -> _Text:
    """A message without some of its parts, and without the contrasts before them."""
    first = parts[0].start
    spans = [one for one in contrast_spans(turn.content) if one.end <= first]
    left = leave_out(turn.content, [*spans, *parts])
    spelled = spell_out(left.text)
    (parsed,) = parse([spelled.text])
    return _prepared(turn, parsed, (spelled, left), grammar=grammar)


def _prepared(
    turn: Turn, parsed: Parsed, left: tuple[Spelled, Spelled], *, grammar: Grammar
) -> _Text:
    """A message as it is parsed; `left` are its text spelled out, and the text of which that is."""
    pronouns = grammar.female | grammar.male | {"her", "his"}
    has_pronoun = any(token.lower_ in pronouns for token in parsed.doc)
    return _Text(parsed, *left, may_correct(turn.content), has_pronoun)


def _place(turn: Turn) -> tuple[str, str]:
    return turn.session_id, turn.source_id


def _placed(claim: Extracted, text: Spelled) -> Extracted:
    """A claim with its span in the message as it was written."""
    span = Span(start=text.place(claim.span.start), end=text.place(claim.span.end))
    return claim.model_copy(update={"span": span})


def _with_earlier(turns: Sequence[Turn]) -> list[Turn]:
    """Turns with those before them, each once, in the order in which they were said."""
    before = {_place(one): one for turn in turns for one in turn.before}
    everything = before | {_place(turn): turn for turn in turns}
    return sorted(everything.values(), key=lambda turn: (turn.at, turn.source_id))


def _corrections(
    turn: Turn, claims: Sequence[Extracted], session: _Session
) -> tuple[Extracted, ...]:
    """What a turn corrects of the last ones of its speaker, beside what it claims by itself."""
    known = [
        [each for each in said if each.kind in {"affirmed", "corrected"} and each.object]
        for said in reversed(session.claims[turn.speaker][-_CORRECTABLE:])
    ]
    return correcting_claims(turn.content, claims, said=known, is_next=False)


def _once(claims: Iterable[Extracted]) -> list[Extracted]:
    """Each claim once, and none that is affirmed and taken back by the same words."""
    told = list(claims)
    never = {_what(each) for each in told if each.kind == "retracted"}
    affirmed = {
        (name_key(each.subject), each.predicate)
        for each in told
        if each.kind in {"affirmed", "corrected"}
    }
    ends = {_what(each): each.span for each in told if each.kind == "ended"}
    told = [each for each in told if not _is_within(each, ends.get(_what(each)))]
    is_so = {_what(each) for each in told if each.kind in {"affirmed", "corrected"}}
    kept: dict[tuple[str, ...], Extracted] = {}
    for each in told:
        if each.kind == "affirmed" and _what(each) in never:
            continue
        is_moot = each.kind == "ended" and (
            (each.object is None and _what(each)[:2] in affirmed) or _what(each) in is_so
        )
        if not is_moot:
            kept.setdefault((each.kind, *_what(each)), each)
    return list(kept.values())


def _is_within(claim: Extracted, end: Span | None) -> bool:
    """Whether only the words that end something name it, as in "my dog Rex died"."""
    is_so = claim.kind in {"affirmed", "corrected"}
    return is_so and end is not None and end.start <= claim.span.start < claim.span.end < end.end


def _what(claim: Extracted) -> tuple[str, str, str]:
    return name_key(claim.subject), claim.predicate, name_key(claim.object or "")
