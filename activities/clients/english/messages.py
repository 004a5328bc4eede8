"""Messages: one parsed message, sentence by sentence, to its claims and to whom it names.

It decides which sentences state anything at all.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spacy.tokens import Span as Sentence
from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import Clause, ExtractionContext, clauses_of
from mnestic.activities.clients.english.corrections import corrections_of
from mnestic.activities.clients.english.endings import endings_of
from mnestic.activities.clients.english.lexicon import load_lexicon
from mnestic.activities.clients.english.nouns import noun_claims, state_claims
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.people import Entities, Person
from mnestic.activities.clients.english.relations import relations_of
from mnestic.activities.clients.english.status import Status
from mnestic.activities.clients.english.values import ObjectReader
from mnestic.activities.clients.english.verbs import verb_claims
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput

_RECENT = 3  # messages whose people a pronoun may mean
_OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}


class Read(NamedTuple):
    """What a message claims, and whom it names."""

    claims: tuple[Extracted, ...]
    people: tuple[Person, ...]


def states_nothing(text: str) -> bool:
    """Whether a sign speaks for the whole text that it is a joke, a story or an order."""
    return load_lexicon().genre.search(text) is not None


def read_message(
    parsed: Parsed,
    turn: ExtractionInput,
    *,
    people: Sequence[Sequence[Person]],
    known: Sequence[Extracted],
) -> Read:
    """Reads a message after others.

    Args:
        parsed: The message.
        turn: Who said it, and when.
        people: Whom the messages before it have named, message by message.
        known: What they have claimed.
    """
    lexicon = load_lexicon()
    if states_nothing(parsed.content):
        return Read((), ())
    values = ObjectReader(parsed, lexicon)
    earlier = [person for each in people for person in each]
    recent = [person for each in people[-_RECENT:] for person in each]
    entities = Entities(
        parsed, values, lexicon, speaker=turn.speaker, earlier=earlier, recent=recent
    )
    context = ExtractionContext(parsed, lexicon, values, entities, turn.at, known)
    claims: list[Extracted] = []
    for sentence in parsed.sentences:
        tokens = [token for token in sentence if not token.is_space]
        if not tokens or _is_unstated(sentence):
            continue
        own = list(_claims_of(tokens, context))
        words = parsed.repaired.part(sentence.start_char, sentence.end_char)
        amended = corrections_of(words, own, [claims]) if claims else None
        claims = (
            _amended(claims, amended, parsed.span(tokens[0], tokens[-1]).end)
            if amended is not None
            else [*claims, *own]
        )
    return Read(tuple(claims), tuple(entities.persons))


def _is_unstated(sentence: Sentence) -> bool:
    """Whether a sentence asks, supposes or orders."""
    return load_lexicon().not_stated.search(sentence.text.strip()) is not None


def _claims_of(tokens: Sequence[Token], context: ExtractionContext) -> Iterator[Extracted]:
    yield from relations_of(tokens, context)
    for clause in clauses_of(tokens, context.entities, context.lexicon):
        yield from endings_of(clause, context)
        for claim in _statements_of(clause, context):
            yield claim
            opposite = _OPPOSITE.get(claim.predicate)
            if opposite is not None and claim.kind == "affirmed":
                yield claim.model_copy(
                    update={"predicate": opposite, "kind": "ended", "valid_from": None}
                )


def _statements_of(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    if clause.status in {Status.NONE, Status.PLANNED}:
        return
    named = [] if clause.is_turned else list(noun_claims(clause, context))
    yield from named
    if not named:
        yield from verb_claims(clause, context)
        yield from () if clause.is_turned else state_claims(clause, context)


def _amended(
    claims: Sequence[Extracted], amended: Sequence[Extracted], end: int
) -> list[Extracted]:
    """The claims of a message with the right values in the place of those that its next words take back."""
    wrong = {(one.subject, one.predicate, one.object) for one in amended if one.kind == "retracted"}
    left = [one for one in claims if (one.subject, one.predicate, one.object) not in wrong]
    starts = [one.span.start for one in claims if (one.subject, one.predicate, one.object) in wrong]
    start = min(starts, default=0)
    right = [one for one in amended if one.kind != "retracted"]
    return [
        *left,
        *(
            one.model_copy(
                update={
                    "kind": "affirmed",
                    "span": one.span.model_copy(update={"start": start, "end": end}),
                }
            )
            for one in right
        ),
    ]
