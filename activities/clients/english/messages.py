"""Messages: one parsed message, sentence by sentence, to its claims and to whom it names.

It decides which sentences state anything at all.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

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


def states_nothing(text: str) -> bool:
    """Whether a sign speaks for the whole text that it is a joke, a story or an order."""
    return load_lexicon().genre.search(text) is not None


class MessageReader:
    """Reads a message after others: whom it names, and, once that is asked for, what it claims."""

    def __init__(
        self,
        parsed: Parsed,
        turn: ExtractionInput,
        *,
        people: Sequence[Sequence[Person]] = (),
        known: Callable[[], Sequence[Extracted]] = tuple,
    ) -> None:
        """Makes a reader.

        Args:
            parsed: The message.
            turn: Who said it, and when.
            people: Whom the messages before it have named, message by message.
            known: Returns what they have claimed, which few messages depend on.
        """
        self._parsed, self._turn, self._earlier, self._known = parsed, turn, people, known
        self._states_nothing = states_nothing(parsed.content)

    @property
    def people(self) -> tuple[Person, ...]:
        """Whom the message names."""
        return () if self._states_nothing else tuple(self._entities.persons)

    @cached_property
    def claims(self) -> tuple[Extracted, ...]:
        """What the message claims."""
        if self._states_nothing:
            return ()
        context = ExtractionContext(
            self._parsed,
            load_lexicon(),
            self._values,
            self._entities,
            self._turn.at,
            self._known,
        )
        claims: list[Extracted] = []
        for sentence in self._parsed.sentences:
            tokens = [token for token in sentence if not token.is_space]
            if not tokens or _is_unstated(sentence):
                continue
            own = list(_claims_of(tokens, context))
            words = self._parsed.repaired.part(sentence.start_char, sentence.end_char)
            amended = corrections_of(words, own, [claims]) if claims else None
            claims = (
                _amended(claims, amended, self._parsed.span(tokens[0], tokens[-1]).end)
                if amended is not None
                else [*claims, *own]
            )
        return tuple(claims)

    @cached_property
    def _values(self) -> ObjectReader:
        return ObjectReader(self._parsed, load_lexicon())

    @cached_property
    def _entities(self) -> Entities:
        return Entities(
            self._parsed,
            self._values,
            load_lexicon(),
            speaker=self._turn.speaker,
            earlier=[person for each in self._earlier for person in each],
            recent=[person for each in self._earlier[-_RECENT:] for person in each],
        )


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
