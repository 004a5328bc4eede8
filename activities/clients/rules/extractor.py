"""The local extractor: a message in, its claims out, without a model.

Everything else in this package is one step of what happens here.
"""

import asyncio
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from mnestic.activities.clients.rules.clauses import clauses_of
from mnestic.activities.clients.rules.lexing import Word, words_of
from mnestic.activities.clients.rules.meanings import Setting, meanings_of
from mnestic.activities.clients.rules.occasions import occasions_of
from mnestic.activities.clients.rules.people import Bond, Cast, name_at
from mnestic.activities.clients.rules.sentences import Sentence, mask_quotes, sentences_of
from mnestic.activities.clients.rules.tool_results import claims_of_result
from mnestic.memory.claims import Span, name_key
from mnestic.memory.dates import find_dates
from mnestic.memory.extraction import Extracted, Extraction, Turn

_MENDS = re.compile(
    r"\bI (?:actually )?meant\b|\bI misspoke\b|\bmy mistake\b|\bcorrection\b|\bI (?:got|had|said) (?:that|it|this) wrong\b"
    r"|\bI was wrong\b|\bI made a mistake\b|\btypo\b",
    re.IGNORECASE,
)


_HEADINGS = frozenset(
    {
        "update",
        "news",
        "correction",
        "confession",
        "edit",
        "reminder",
        "fact",
        "status",
        "secret",
        "listen",
    }
)


class LocalExtractor:
    """Implements `mnestic.memory.ports.Extractor` by rules."""

    name = "rules-1"  # with their version: what they read changes with it
    model = None
    batch = 200

    async def extract(self, turns: Sequence[Turn]) -> Extraction:
        """See the port. Nothing is asked of anybody, and each turn is read by itself."""
        found = await asyncio.to_thread(lambda: tuple(claims_of_turn(turn) for turn in turns))
        return Extraction(claims=found, model=self.name)


def claims_of_turn(turn: Turn) -> tuple[Extracted, ...]:
    """What one turn claims, each thing once, in the order of the text."""
    found = claims_of_result(turn.content) if turn.kind == "tool_result" else _of_message(turn)
    return tuple(_once(found))


def _of_message(turn: Turn) -> list[Extracted]:
    masked = mask_quotes(turn.content)
    sentences = sentences_of(masked)
    if not any(sentence.is_stated for sentence in sentences):
        return []
    words = [words_of(masked, sentence.start, sentence.end) for sentence in sentences]
    cast = Cast(words, speaker=turn.speaker)
    setting = Setting(turn.at, cast, mends=bool(_MENDS.search(masked)))
    dates = find_dates(masked)
    starts = [date.start for date in dates]
    claims: list[Extracted] = []
    for sentence, own in zip(sentences, words, strict=True):
        if sentence.is_stated and own and not _is_anothers(own, turn.speaker):
            claims += _bonds_in(sentence, cast.bonds)
            first, last = (bisect_left(starts, place) for place in (sentence.start, sentence.end))
            for clause in clauses_of(own, text=masked, cast=cast, dates=dates[first:last]):
                claims += meanings_of(clause, setting)
                claims += occasions_of(clause, setting)
    return claims


def _is_anothers(words: Sequence[Word], speaker: str) -> bool:
    """Whether a line is put into somebody's mouth, as in a transcript: "Tom: I live in Rome"."""
    name, place = name_at(words, 0)
    is_label = bool(name) and place < len(words) and words[place].low == ":"
    is_first = is_label and any(word.low in {"i", "my", "we"} for word in words[place : place + 4])
    return is_first and name.casefold() not in _HEADINGS and name_key(name) != name_key(speaker)


def _bonds_in(sentence: Sentence, bonds: Iterable[Bond]) -> Iterator[Extracted]:
    """Who is what to whom; of an animal also what it is."""
    for bond in bonds:
        if not bond.names or not sentence.start <= bond.start < sentence.end:
            continue
        span = Span(start=bond.start, end=bond.end)
        for name in bond.names:
            if name_key(name) == name_key(bond.owner):
                continue
            kind = "ended" if bond.is_gone else "affirmed"
            yield Extracted(
                kind=kind, subject=bond.owner, predicate=bond.kin.predicate, object=name, span=span
            )
            if bond.kin.predicate == "pet":
                yield Extracted(subject=name, predicate="is_a", object=bond.word, span=span)


def _once(claims: Iterable[Extracted]) -> Iterator[Extracted]:
    """Each claim once, and none of what the same turn says to be otherwise."""
    seen: set[tuple[str, ...]] = set()
    told = list(claims)
    affirmed = {
        (name_key(each.subject), each.predicate) for each in told if each.kind == "affirmed"
    }
    for each in told:
        key = (each.kind, name_key(each.subject), each.predicate, name_key(each.object or ""))
        is_moot = each.kind == "ended" and each.object is None and key[1:3] in affirmed
        if key not in seen and not is_moot:
            seen.add(key)
            yield each
