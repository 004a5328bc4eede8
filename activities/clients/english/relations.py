"""Relations: who somebody is to somebody by a name beside a noun, how the speaker is called, and how reached.

No verb has to state these.
"""

import re
from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import ExtractionContext
from mnestic.activities.clients.english.lexicon import pattern
from mnestic.activities.clients.english.status import Status, status_of
from mnestic.activities.clients.english.trees import children, is_verb, lemma
from mnestic.memory.knowledge.extraction import Extracted

_SO = frozenset({Status.NOW, Status.DOING, Status.PAST, Status.PERFECT, Status.LASTING})
_NAME = r"(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
_CALL_ME = re.compile(rf"\b(?:[Cc]all|calls?) me {_NAME}")
_I_AM = re.compile(
    rf"\A\W*(?:(?:I'm|I am|(?P<this>This is|It's|The name is)) {_NAME}(?: here| speaking| from [\w ]+)?|(?P<here>{_NAME.replace('name', 'first')} here))(?:[.!]|\Z| and |, (?!my|our))"
)


def relations_of(sentence: Sequence[Token], context: ExtractionContext) -> Iterator[Extracted]:
    """The claims of a sentence that names relatives, animals, the speaker, or an address."""
    for noun in sentence:
        yield from _bonds(noun, context)
    yield from _introduction(sentence, context)
    yield from _contact(sentence, context)


def _bonds(noun: Token, context: ExtractionContext) -> Iterator[Extracted]:
    for person, name in context.entities.relatives(noun):
        if not _is_so(noun, name, context):
            continue
        span = context.parsed.span(*sorted((noun, name), key=lambda token: token.i))
        yield Extracted(subject=person.owner, predicate=person.kin, object=person.called, span=span)
        if person.kin == "pet":
            yield Extracted(subject=person.subject, predicate="is_a", object=lemma(noun), span=span)


def _is_so(noun: Token, name: Token, context: ExtractionContext) -> bool:
    """Whether somebody has a relative of a name: "my sister Ann" says so in any clause, "a sister called Ann" in one that is so."""
    verb = next((one for one in noun.ancestors if is_verb(one)), None)
    if verb is None:
        return True
    is_between = verb.i in range(*sorted((noun.i, name.i)))
    is_naming = lemma(verb) in {"call", "name"} and verb in {noun.head, name.head}
    is_given = bool(children(noun, "poss")) and not (is_between or is_naming)
    return is_given or status_of(verb, context.lexicon) in _SO


def _introduction(sentence: Sequence[Token], context: ExtractionContext) -> Iterator[Extracted]:
    """As in "I'm Kim", "Kim here", at the beginning of a message, and "call me Kim"."""
    doc = sentence[0].doc
    first, last = sentence[0], sentence[-1]
    text = doc[first.i : last.i + 1].text
    found = _CALL_ME.search(text) or (_I_AM.match(text) if first.i == 0 else None)
    if found is None:
        return
    parts = found.groupdict()
    name = parts["name"] or parts["first"]
    tokens = [token for token in sentence if token.text in name.split()]
    is_sure = not (parts.get("this") or parts.get("here"))
    kinds = {"PERSON", "ORG", "GPE", ""} if is_sure else {"PERSON"}
    is_person = tokens and all(
        token.pos_ == "PROPN" and context.parsed.entity_type(token) in kinds for token in tokens
    )
    if not is_person or name.lower() in context.lexicon.vague or context.values.is_date(tokens[0]):
        return
    predicate = "full_name" if " " in name else "preferred_name"
    yield Extracted(
        subject=context.entities.speaker,
        predicate=predicate,
        object=name,
        span=context.parsed.span(tokens[0], tokens[-1]),
    )


def _contact(sentence: Sequence[Token], context: ExtractionContext) -> Iterator[Extracted]:
    """As in "reach me at …", "please use … from now on"; a label says itself whose an address is."""
    doc = sentence[0].doc
    for token in sentence:
        kind = context.parsed.kind_of(token)
        if kind not in {"email", "phone"} or context.parsed.labelled(token):
            continue
        text = doc[sentence[0].i : token.i + 1].text
        names = [
            one
            for one in sentence
            if one.pos_ == "PROPN"
            and context.parsed.entity_type(one) == "PERSON"
            and not context.parsed.kind_of(one)
        ]
        if (
            pattern("contact").search(text)
            and not pattern("of_others").search(text)
            and not names
            and not children(token, "poss")
        ):
            span = context.parsed.span(token, token)
            value = context.parsed.text(token, token)
            yield Extracted(
                subject=context.entities.speaker, predicate=kind, object=value, span=span
            )
