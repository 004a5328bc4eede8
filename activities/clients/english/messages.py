"""Messages: one parsed message, sentence by sentence, to its claims.

It stands apart because it decides which sentences state anything at all.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spacy.tokens import Span as Sentence
from spacy.tokens import Token

from mnestic.activities.clients.english.attributes import attributes_of
from mnestic.activities.clients.english.claiming import Reading
from mnestic.activities.clients.english.classes import ValueClasses
from mnestic.activities.clients.english.clauses import Clause, clauses_of
from mnestic.activities.clients.english.complements import complements_of
from mnestic.activities.clients.english.endings import endings_of
from mnestic.activities.clients.english.fragments import fragments_of
from mnestic.activities.clients.english.lexicon import Grammar, Lexicon
from mnestic.activities.clients.english.occasions import occasions_of
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.people import Cast, Person
from mnestic.activities.clients.english.relationships import couples_of, kin_claims
from mnestic.activities.clients.english.statements import statements_of
from mnestic.activities.clients.english.trees import lemma, subjects
from mnestic.activities.clients.english.values import Values
from mnestic.activities.clients.messages.genres import is_report
from mnestic.activities.clients.messages.pasted import mask_pasted
from mnestic.activities.clients.messages.sentences import mask_lead_ins, sentences_of
from mnestic.activities.clients.messages.voices import is_speakers_voice
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted, Turn

_LONGEST_SENTENCE = 200  # tokens; to walk a parse takes time in proportion to their square
_REST = re.compile(r"[^.!?\n]*")
_REST_OF_WORD = re.compile(r"(?<=\w)\w+\s+")
_TURN = re.compile(r"\b(?:but|then|and)\b.*")


class Read(NamedTuple):
    """What a message claims, whom it names, and whether it states anything."""

    claims: tuple[Extracted, ...]
    people: tuple[Person, ...]
    is_stated: bool


def read_message(
    parsed: Parsed, turn: Turn, *, earlier: Sequence[Person], lexicon: Lexicon
) -> Read:
    """Reads a message; `earlier` are the people of the messages before it."""
    low = f" {turn.content.casefold()} "
    is_cited = any(phrase in low for phrase in lexicon.grammar.cited)
    if is_cited or not is_report(mask_pasted(turn.content)):
        return Read((), (), is_stated=False)
    values = Values(parsed, lexicon.grammar)
    classes = ValueClasses(values, lexicon)
    cast = Cast(classes, values, lexicon, speaker=turn.speaker, earlier=earlier)
    is_correction = any(phrase in low for phrase in lexicon.grammar.corrections)
    reading = Reading(parsed, lexicon, values, classes, cast, turn.at, is_correction)
    places = _stated(turn)
    if _is_in_a_role(parsed, lexicon):
        return Read((), (), is_stated=False)
    sentences = [each for each in parsed.doc.sents if len(each) <= _LONGEST_SENTENCE]
    cast.read([token for sentence in sentences for token in sentence])
    claims = [
        claim
        for sentence in sentences
        if is_statement(sentence, lexicon.grammar)
        for claim in _claims_of([token for token in sentence if token.idx in places], reading)
    ]
    claims = [_of_whole_words(claim, turn.content) for claim in claims]
    return Read(tuple(_renamed(claims, cast)), tuple(cast.persons), bool(places))


def _of_whole_words(claim: Extracted, text: str) -> Extracted:
    """A claim whose words begin with a whole one, where the parser has read a pronoun in the place of "and"."""
    span = claim.span
    begun = _REST_OF_WORD.match(text, span.start) if span.start else None
    if begun is None or begun.end() >= span.end:
        return claim
    return claim.model_copy(update={"span": Span(start=begun.end(), end=span.end)})


def _is_in_a_role(parsed: Parsed, lexicon: Lexicon) -> bool:
    """Whether somebody speaks as one who is in stories only: "I'm Batman"."""
    return any(
        token.lower_ in lexicon.classes["nobody"]
        and lemma(token.head) == "be"
        and any(subject.lower_ == "i" for subject in subjects(token.head))
        for token in parsed.doc
    )


def states_anything(turn: Turn) -> bool:
    """Whether a sentence of a message states something, by its words alone."""
    return bool(_stated(turn))


def _stated(turn: Turn) -> set[int]:
    masked = mask_lead_ins(mask_pasted(turn.content))
    sentences = sentences_of(masked)
    voices = is_speakers_voice(sentences, text=masked, speaker=turn.speaker)
    return {
        place
        for sentence, is_own in zip(sentences, voices, strict=True)
        if sentence.is_stated and is_own
        for place in range(sentence.start, sentence.end)
    }


def is_statement(sentence: Sentence, grammar: Grammar) -> bool:
    """Whether a sentence states something: no question, no irony, no fiction."""
    text = sentence.text.strip().lower()
    if text.rstrip(" \"')!.").endswith("?") or "?" in text[-3:]:
        return False
    return not any(phrase in text for phrase in grammar.fiction)


def _claims_of(sentence: list[Token], reading: Reading) -> Iterator[Extracted]:
    yield from fragments_of(sentence, reading)
    for token in sentence:
        if reading.cast.is_kin(token):
            yield from kin_claims(token, reading)
    for clause in clauses_of(sentence, reading.cast, reading.lexicon.grammar):
        if _is_undone(clause, reading):
            continue
        yield from statements_of(clause, reading)
        yield from attributes_of(clause, reading)
        yield from complements_of(clause, reading)
        yield from couples_of(clause, reading)
        yield from occasions_of(clause, reading)
        yield from endings_of(clause, reading)


def _is_undone(clause: Clause, reading: Reading) -> bool:
    """Whether the rest of the sentence takes back what a clause says: "but then changed my mind"."""
    rest = _REST.match(reading.parsed.text, clause.verb.idx)
    found = _TURN.search(rest[0].lower()) if rest else None
    return found is not None and any(
        phrase in found[0] for phrase in reading.lexicon.grammar.undone
    )


def _renamed(claims: Sequence[Extracted], cast: Cast) -> Iterator[Extracted]:
    """With the name of somebody's kin where the message says it in other words."""
    names: dict[str, str] = {}
    for claim in claims:
        for person in cast.persons:
            if (
                not person.called
                and person.owner
                and claim.kind in {"affirmed", "corrected"}
                and claim.object
            ):
                is_name = (claim.predicate, name_key(claim.subject)) == (
                    person.kin,
                    name_key(person.owner),
                )
                if is_name:
                    names[person.subject] = claim.object
    for claim in claims:
        yield claim.model_copy(update={"subject": names.get(claim.subject, claim.subject)})
