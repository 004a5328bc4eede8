"""Conversations: messages in their order, so that a pronoun or a correction finds what it means before it.

It stands apart from the reading of one message, which knows nothing of others but the people before it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mnestic.activities.clients.english.lexicon import Lexicon, load_lexicon
from mnestic.activities.clients.english.messages import Read, read_message
from mnestic.activities.clients.english.parsing import Parsed, parse, parser_memory
from mnestic.activities.clients.english.people import Person
from mnestic.activities.clients.english.spelling import Spelled, leave_out, spell_out
from mnestic.activities.clients.messages.tool_results import claims_of_result
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.corrections import contrast_spans, correcting_claims
from mnestic.memory.knowledge.extraction import Extracted, Turn

_REMEMBERED = 3  # messages whose people a pronoun may mean
_CORRECTABLE = 3  # messages of the speaker that a correction may mean


@dataclass
class _Session:
    people: list[tuple[Person, ...]] = field(default_factory=list)
    claims: dict[str, list[tuple[Extracted, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )


def claims_of(turns: Sequence[Turn]) -> tuple[tuple[Extracted, ...], ...]:
    """What each turn claims, in the order of the turns."""
    everything = _with_earlier(turns)
    with parser_memory():
        found = dict(_read_all(everything))
    return tuple(found[_place(turn)] for turn in turns)


def _read_all(turns: Sequence[Turn]) -> Iterator[tuple[tuple[str, str], tuple[Extracted, ...]]]:
    """What turns claim, in the order in which they were said, by the place of each."""
    lexicon = load_lexicon()
    spoken = [turn for turn in turns if turn.kind == "message"]
    left = {_place(turn): leave_out(turn.content, contrast_spans(turn.content)) for turn in spoken}
    spelled = {place: spell_out(each.text) for place, each in left.items()}
    parsed = dict(zip(spelled, parse([each.text for each in spelled.values()]), strict=True))
    sessions: dict[str, _Session] = defaultdict(_Session)
    for turn in turns:
        place = _place(turn)
        if turn.kind == "tool_result":
            yield place, tuple(_once(claims_of_result(turn.content)))
            continue
        reading = turn.model_copy(update={"content": spelled[place].text})
        session = sessions[turn.session_id]
        read = _read(reading, parsed[place], session, lexicon=lexicon)
        claims = [
            _placed(_placed(claim, spelled[place]), left[place]) for claim in _once(read.claims)
        ]
        if read.is_stated:
            claims = _once([*claims, *_corrections(turn, claims, session)])
        session.people.append(read.people)
        session.claims[turn.speaker].append(tuple(claims))
        yield place, tuple(claims)


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


def _read(turn: Turn, parsed: Parsed, session: _Session, *, lexicon: Lexicon) -> Read:
    earlier = [person for people in session.people[-_REMEMBERED:] for person in people]
    return read_message(parsed, turn, earlier=earlier, lexicon=lexicon)


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
