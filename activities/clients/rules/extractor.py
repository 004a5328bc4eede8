"""The local extractor: a message in, its claims out, without a model.

Everything else in this package is one step of what happens here.
"""

# ruff: noqa: SIM905 (word lists read best as text)

import asyncio
import logging
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from mnestic.activities.clients.messages.pasted import mask_pasted
from mnestic.activities.clients.messages.sentences import Sentence, mask_lead_ins, sentences_of
from mnestic.activities.clients.messages.tool_results import claims_of_result
from mnestic.activities.clients.messages.voices import is_speakers_voice
from mnestic.activities.clients.rules.clauses import clauses_of
from mnestic.activities.clients.rules.endings import dropped_in, lost_in, never_so, undone
from mnestic.activities.clients.rules.lexing import words_of
from mnestic.activities.clients.rules.meanings import Setting, meanings_of
from mnestic.activities.clients.rules.occasions import occasions_of
from mnestic.activities.clients.rules.patterns import NAME
from mnestic.activities.clients.rules.people import Cast, Relationship
from mnestic.activities.clients.rules.phrases import proper_name
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted, Extraction, Turn
from mnestic.memory.language.date_mentions import find_dates

_CORRECTS = re.compile(
    r"\bI (?:actually )?meant\b|\bI misspoke\b|\bmy mistake\b|\bcorrection\b|\bI (?:got|had|said) (?:that|it|this) wrong\b"
    r"|\bI was wrong\b|\bI made a mistake\b|\btypo\b",
    re.IGNORECASE,
)


# Of a company that is named like a person.
_FIRM = re.compile(
    rf"\b[Ww]ork(?:s|ed|ing)? (?:at|for) (?P<work>{NAME})|\b(?P<firm>{NAME})(?: (?:has|have|employs) (?:[\w,.]+ ){{1,3}}(?:employees|staff|offices|stores|branches|customers|engineers)\b"
    r"| (?:is|are) (?:hiring|an? (?:\w+ ){0,2}(?:company|startup|start-up|firm|brand|bank|agency))\b| (?:Ltd|Inc|GmbH|AG|LLC|Corp|PLC|BV)\b|'s (?:CEO|HQ|headquarters|stock|shares|customers|products?)\b)"
)
_AGAIN = re.compile(r"\b(?:every|each|most)\s\Z", re.IGNORECASE)
_LASTING = frozenset(
    "parent child sibling grandparent grandchild cousin aunt_or_uncle in_law niece_or_nephew".split()
)
_DIED = re.compile(
    r"[,)]?(?: (?:has|had|have|just|sadly|suddenly|recently|finally|peacefully|also|already|had to be|was|is|got|who))*"
    r" (?:died|passed (?:away|on)|dead(?! (?:tired|set|serious|asleep|beat|certain|sure|right))|put (?:down|to sleep)|run over|ran away|euthani[sz]ed)\b"
)
_PUT_DOWN = re.compile(
    r"\b(?:(?:lost|buried|rehomed|mourn|mourning|gave away|gave up|sold|found a (?:new )?home for) \x1f|g[ai]ven? \x1f (?:to|away)\b|put \x1f (?:down|to sleep)\b|(?:death|loss|passing) of \x1f)"
)
log = logging.getLogger("mnestic.extraction")
_CALLED = re.compile(
    r"(?:\A|[.,;:!] |\b(?:you can|please|just|but|and|so) )(?P<said>(?:[Pp]lease |[Jj]ust |[Yy]ou can (?:just )?)?(?:[Cc]all me"
    r"|(?:[Ee]very(?:one|body)|[Pp]eople|[Mm]ost people|(?:[Mm]y )?[Ff]riends|[Mm]y family)(?: just| all)? calls? me)) "
    r"(?P<name>[A-Z][\w'-]+)(?=\s*(?:\Z|[,.!]))"
)
_REACHED = re.compile(
    r"(?:\A|[.;!] |\b(?i:please|just|but|and|so|can) )(?P<said>(?:[Rr]each|[Cc]ontact|[Ee]-?mail) me (?:at|on|under|via)"
    r"|(?:(?:[Uu]se|[Tt]ake|[Nn]ote) my (?:new )?|[Mm]y new |[Mm]y (?=[a-z -]+:))(?:e-?mail(?: address)?|(?:(?:phone|telephone|mobile|"
    r"cell)(?: number)?|number)):?) (?:(?P<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})|(?P<phone>(?:\+|0)\d[\d ()/-]{5,20}\d))"
    r"(?=\s*(?:\Z|[.,;!]|(?:please|now|instead|after|from|until|for|in future)\b))"
)
_OF_PEOPLE = frozenset(
    "employer job_title languages_spoken learns manages married_to engaged_to member_of nationality responsible_for "
    "school studies studies_at teaches worked_at works_on wants plans owns".split()
)


class LocalExtractor:
    """Implements `mnestic.memory.ports.Extractor` by rules."""

    name = "rules-1"  # with their version: what they read changes with it
    model = None
    batch = 200
    reads_earlier = False

    async def extract(self, turns: Sequence[Turn]) -> Extraction:
        """See the port. Nothing is asked of anybody, and each turn is read by itself."""
        found = await asyncio.to_thread(lambda: tuple(_read(turn) for turn in turns))
        return Extraction(claims=found, model=self.name)


def _read(turn: Turn) -> tuple[Extracted, ...]:
    """What one turn claims.

    Raises:
        InvalidInputError: a rule fails on it; the others need not wait for it to be mended.
    """
    try:
        return claims_of_turn(turn)
    except Exception as error:
        what = f"message {turn.session_id}/{turn.source_id}"
        log.exception("the rules fail on a message", extra={"said": what})
        why = f"cannot be read by {LocalExtractor.name}: {type(error).__name__}; please report it"
        raise InvalidInputError(what=what, why=why) from error


def claims_of_turn(turn: Turn) -> tuple[Extracted, ...]:
    """What one turn claims, each thing once, in the order of the text."""
    found = claims_of_result(turn.content) if turn.kind == "tool_result" else _of_message(turn)
    return tuple(_once(found))


def _of_message(turn: Turn) -> list[Extracted]:
    masked = mask_lead_ins(mask_pasted(turn.content))
    sentences = sentences_of(masked)
    if not any(sentence.is_stated for sentence in sentences):
        return []
    words = [words_of(masked, sentence.start, sentence.end) for sentence in sentences]
    cast = Cast(words, speaker=turn.speaker)
    setting = Setting(turn.at, cast, is_correction=bool(_CORRECTS.search(masked)))
    dates = [
        date
        for date in find_dates(masked)
        if not _AGAIN.search(masked, max(0, date.start - 9), date.start)
    ]
    starts = [date.start for date in dates]
    claims: list[Extracted] = []
    voices = is_speakers_voice(sentences, text=masked, speaker=turn.speaker)
    for sentence, own, is_own in zip(sentences, words, voices, strict=True):
        if sentence.is_stated and own and is_own:
            claims += _bonds_in(sentence, cast.bonds, masked)
            first, last = (bisect_left(starts, place) for place in (sentence.start, sentence.end))
            text = masked[sentence.start : sentence.end]
            said = list(lost_in(text, sentence.start, turn.speaker))
            for clause in clauses_of(own, text=masked, cast=cast, dates=dates[first:last]):
                said += meanings_of(clause, setting)
                said += occasions_of(clause, setting)
            claims += undone(said, text, start=sentence.start)
            claims += dropped_in(text, sentence.start, turn.speaker)
            claims += never_so(text, sentence.start, turn.speaker)
            claims += _called(text, sentence.start, turn.speaker)
            claims += _reached(text, sentence.start, turn.speaker)
    told = list(_of_people(claims, cast))
    firms = (
        {name_key(found["work"] or found["firm"]) for found in _FIRM.finditer(masked)}
        if told
        else ()
    )
    return [
        each
        for each in told
        if name_key(each.subject) not in firms and "__" not in f"{each.subject} {each.object}"
    ]


def _called(sentence: str, start: int, speaker: str) -> Iterator[Extracted]:
    """As in "Call me Mo", "everybody calls me Mo"."""
    for found in _CALLED.finditer(sentence):
        name = proper_name(found["name"])
        if name is not None:
            span = Span(start=start + found.start("said"), end=start + found.end("name"))
            yield Extracted(subject=speaker, predicate="preferred_name", object=name, span=span)


def _reached(sentence: str, start: int, speaker: str) -> Iterator[Extracted]:
    """As in "Use my new email kim@example.com", "you can reach me on 0170 1234567"."""
    for found in _REACHED.finditer(sentence):
        predicate = "email" if found["email"] else "phone"
        span = Span(start=start + found.start("said"), end=start + found.end())
        yield Extracted(subject=speaker, predicate=predicate, object=found[predicate], span=span)


def _of_people(claims: Sequence[Extracted], cast: Cast) -> Iterator[Extracted]:
    """Without what only a person can be or do, of an animal."""
    pets = {bond.subject for bond in cast.bonds if bond.kin.predicate == "pet"}
    pets |= {each.subject for each in claims if each.predicate == "is_a"}
    yield from (
        each for each in claims if each.subject not in pets or each.predicate not in _OF_PEOPLE
    )


def _bonds_in(sentence: Sentence, bonds: Iterable[Relationship], text: str) -> Iterator[Extracted]:
    """Who is what to whom; of an animal also what it is."""
    for bond in bonds:
        if not bond.names or not sentence.start <= bond.start < sentence.end:
            continue
        span = Span(start=bond.start, end=bond.end)
        for name in bond.names:
            if name_key(name) == name_key(bond.owner):
                continue
            kind = "ended" if bond.has_ended or _is_lost(bond, text) else "affirmed"
            yield Extracted(
                kind=kind, subject=bond.owner, predicate=bond.kin.predicate, object=name, span=span
            )
            if bond.kin.predicate == "pet":
                yield Extracted(subject=name, predicate="is_a", object=bond.word, span=span)


def _is_lost(bond: Relationship, text: str) -> bool:
    """Whether the words around a bond say that it ended by death or loss; one's parents stay parents."""
    is_lasting = bond.kin.predicate in _LASTING
    before, after = text[max(0, bond.start - 40) : bond.start], text[bond.end : bond.end + 80]
    return not is_lasting and bool(_DIED.match(after) or _PUT_DOWN.search(before + "\x1f" + after))


def _once(claims: Iterable[Extracted]) -> Iterator[Extracted]:
    """Each claim once, and none of what the same turn says to be otherwise."""
    seen: set[tuple[str, ...]] = set()
    told = list(claims)
    never = {_what(each) for each in told if each.kind == "retracted"}
    told = [each for each in told if each.kind != "affirmed" or _what(each) not in never]
    affirmed = {
        (name_key(each.subject), each.predicate) for each in told if each.kind == "affirmed"
    }
    for each in told:
        key = (each.kind, *_what(each))
        is_moot = each.kind == "ended" and each.object is None and key[1:3] in affirmed
        if key not in seen and not is_moot:
            seen.add(key)
            yield each


def _what(claim: Extracted) -> tuple[str, str, str]:
    return name_key(claim.subject), claim.predicate, name_key(claim.object or "")
