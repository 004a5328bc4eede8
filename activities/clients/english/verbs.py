"""Verbs: what a clause states by its verb: a known predicate, or the verb's own name.

Here tense decides: a habit is so, an event has been so since, and what is in progress says nothing.
"""

from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import Clause, ExtractionContext, claim_of
from mnestic.activities.clients.english.lexicon import pattern
from mnestic.activities.clients.english.nouns import as_kin, employer_claims
from mnestic.activities.clients.english.objects import (
    gerund_of,
    object_of,
    predicate_named,
    present_of,
)
from mnestic.activities.clients.english.status import Status
from mnestic.activities.clients.english.trees import children, clause_text, lemma
from mnestic.memory.knowledge.claims import ClaimKind, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.predicates import default_predicates

_EVENT = frozenset({Status.PAST, Status.PERFECT, Status.LASTING})
_STATE = frozenset({Status.NOW, Status.DOING, Status.LASTING})
_TASTES = frozenset({"likes", "dislikes"})
_HAVING = frozenset({"has", "gets", "pet", "owns"})
_DEFINITE = frozenset({"the", "my", "our"})
_PLACE_ENTITIES = frozenset({"GPE", "LOC", "FAC"})
_PLACES = frozenset({"work", "home", "school"})


def verb_claims(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """The claims of a clause by its verb."""
    known = list(_known_claims(clause, context))
    yield from known or _open_claims(clause, context)


def _known_claims(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """By the verbs of the lexicon."""
    done: set[int] = set()
    for key, token in clause.objects:
        now, since = context.lexicon.now.get(key), context.lexicon.since.get(key)
        is_event = now is None or (
            since is not None and clause.status in {Status.PAST, Status.PERFECT}
        )
        predicate = since if is_event else now
        is_got = key == "have" and clause.status is Status.PERFECT
        kind = "affirmed" if is_got else _kind_of(key, clause.status, is_event=is_event)
        if predicate is None or kind is None or token.i in done or token.pos_ == "PRON":
            continue
        for claim in _first_of(clause, predicate.split(), token, kind=kind, context=context):
            if not key.startswith("not "):
                done.add(token.i)
            yield claim


def _first_of(
    clause: Clause,
    predicates: Sequence[str],
    token: Token,
    *,
    kind: ClaimKind,
    context: ExtractionContext,
) -> list[Extracted]:
    """The claims of the first predicate whose object a token can be: one joins a firm, or a choir."""
    every = (_claims_about(clause, one, token, kind=kind, context=context) for one in predicates)
    return next((claims for each in every if (claims := list(each))), [])


def _kind_of(key: str, status: Status, *, is_event: bool) -> ClaimKind | None:
    """What the status of a clause makes of a known verb."""
    if key.startswith(("not ", "cannot ")):
        return "affirmed" if status in {Status.NEGATED, Status.ENDED} else None
    if status in {Status.NEGATED, Status.ENDED}:
        return None if is_event else "ended"
    return "affirmed" if status in (_EVENT if is_event else _STATE) else None


def _claims_about(
    clause: Clause, predicate: str, token: Token, *, kind: ClaimKind, context: ExtractionContext
) -> Iterator[Extracted]:
    """The claims of a known predicate about each subject, if the token is an object of its kind."""
    kind_of_value = context.lexicon.values.get(predicate, "")
    if predicate == "employer" and clause.status in _STATE:
        kind_of_value = "body"
    fitting = context.values.fits(token, kind_of_value)
    if fitting is None or not _is_lasting(clause, predicate, fitting, context=context):
        return
    value, named, names = _named_object(fitting, predicate, context, kind_of_value=kind_of_value)
    for person in clause.subjects if value else ():
        subject, actual = as_kin(person.subject, named, context)
        if name_key(value) == name_key(subject):
            continue
        yield claim_of(clause, subject, (actual, value), kind=kind, context=context)
        if names and actual == "pet":
            yield claim_of(clause, value, ("is_a", lemma(fitting)), kind=kind, context=context)
        past = _past_of(actual) if clause.status is Status.ENDED else None
        if past is not None:
            yield claim_of(clause, subject, (past, value), kind="affirmed", context=context)
    if predicate == "job_title" and kind == "affirmed":
        yield from employer_claims(clause, fitting, context)


def _named_object(
    token: Token, predicate: str, context: ExtractionContext, *, kind_of_value: str
) -> tuple[str, str, list[Token]]:
    """The object and its predicate; of a relative or an animal that one has, the name and the relation."""
    entities = context.entities
    kin = entities.kin_of(token) if predicate in _HAVING else None
    if kin is None and predicate == "pet":
        return "", predicate, []
    names = entities.names_by(token) if kin else []
    who = entities.person_of(token) if kind_of_value == "person" else None
    value = entities.full_name(names[0]) if names else object_of(token, predicate, context)
    named = kin.predicate if kin else {"gets": "owns"}.get(predicate, predicate)
    return (who.called or value if who else value), named, names


def _past_of(predicate: str) -> str | None:
    """What a state is called once it is over."""
    pasts = default_predicates().past
    return next((past for past, present in pasts.items() if present == predicate), None)


def _is_lasting(
    clause: Clause, predicate: str, token: Token, *, context: ExtractionContext
) -> bool:
    """Whether a verb and its object last: nothing in progress, no appointment, and no certain thing that pleased."""
    verb = clause.verb
    is_passing = clause.status is Status.DOING and lemma(verb) not in context.lexicon.lasting | {
        "be"
    }
    if is_passing or (token.tag_ == "VBG" and lemma(token) in {"be", "have"}):
        return False
    has_the = token.pos_ != "PROPN" and any(
        child.lower_ in _DEFINITE for child in children(token, "det", "poss")
    )
    is_someone = context.entities.kin_of(token) is not None
    if predicate == "lives_in" and clause.status in _EVENT and lemma(verb) in {"move", "relocate"}:
        return _moves_home(clause, token, context)
    if predicate == "preferred_name":
        return not any(context.values.is_date(word) for word in verb.subtree)
    if predicate in _TASTES:
        is_known = has_the or is_someone or context.parsed.entity_type(token) == "PERSON"
        return not is_known and not children(token, "relcl", "acl")
    if predicate in {"has", "gets"}:
        has_date = any(context.values.is_date(word) for word in verb.subtree)
        is_had = predicate == "has" or token.pos_ == "PROPN" or is_someone
        is_many = is_someone and token.tag_ == "NNS" and not context.entities.names_by(token)
        return is_had and not (has_the or has_date or is_many or token.pos_ == "VERB")
    return not (predicate == "takes" and has_the)


def _moves_home(clause: Clause, token: Token, context: ExtractionContext) -> bool:
    """Whether somebody has another home, and not a team another tool: a place is named, or one person moves."""
    words = clause.verb.subtree
    is_placed = any(context.parsed.entity_type(word) in _PLACE_ENTITIES for word in words)
    is_placed = is_placed or any(one.predicate == "lives_in" for one in context.known())
    is_one = all(one.lower_ != "we" for one in clause.subject_tokens) and not clause.find(
        "move from"
    )
    is_thing = any(one.pos_ in {"NOUN", "PROPN"} for one in children(clause.verb, "dobj"))
    is_version = token.i + 1 < len(token.doc) and token.nbor().like_num
    return (is_placed or is_one) and not (is_thing or is_version)


def _open_claims(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """A verb in the habitual present with its object, as a predicate of its own name: "I cycle to work"."""
    verb, lexicon, status = clause.verb, context.lexicon, clause.status
    is_habit = status is Status.NOW and verb.tag_ in {"VBP", "VBZ", "VB"}
    is_habit = is_habit or (status in _STATE and lemma(verb) in lexicon.lasting)
    is_passing = lemma(verb) in lexicon.passing - {"do"} or clause.is_turned
    is_timed = is_habit and _scheduled(verb, context) is not None
    if not (is_habit or status is Status.ENDED) or (is_passing and not is_timed):
        return
    if children(verb, "auxpass", "ccomp"):
        return
    slot = None if is_passing else _open_slot(verb, context)
    is_alone = not children(verb, "dobj", "xcomp", "prt") and not is_passing
    is_pastime = is_alone and lemma(verb) not in lexicon.lasting - {"run"} and bool(clause.subjects)
    if slot is None and is_pastime and pattern("frequent").search(clause_text(verb)):
        slot = ("hobby", gerund_of(verb))
    slot = slot or _scheduled(verb, context)
    kind: ClaimKind = "ended" if status is Status.ENDED else "affirmed"
    subjects = [person.subject for person in clause.subjects] or _things(clause, slot, context)
    for subject in subjects if slot is not None and slot[1] else ():
        yield claim_of(clause, subject, slot or ("", None), kind=kind, context=context)


def _scheduled(verb: Token, context: ExtractionContext) -> tuple[str, str] | None:
    """When something is so again and again: "the bins go out on Tuesdays", "we have choir at seven"."""
    nouns = children(verb, "dobj")
    is_had = lemma(verb) == "have" and len(nouns) == 1 and not children(nouns[0], "det", "poss")
    if nouns and not is_had:
        return None
    for preposition in (one for part in (verb, *nouns) for one in children(part, "prep")):
        for token in children(preposition, "pobj"):
            is_time = context.values.is_date(token) or (
                token.pos_ == "NUM" and preposition.lower_ == "at"
            )
            if preposition.lower_ in {"on", "at"} and is_time:
                name = lemma(nouns[0]) if is_had else f"{present_of(verb)} {preposition.lower_}"
                return predicate_named(name), context.values.text(token)
    return None


def _things(clause: Clause, slot: tuple[str, str] | None, context: ExtractionContext) -> list[str]:
    """The things that a clause with a time of day or a weekday is about: "the bins"."""
    is_time = slot is not None and slot[0].endswith(("_on", "_at"))
    nouns = [
        one for one in clause.subject_tokens if one.pos_ == "NOUN" and context.values.is_thing(one)
    ]
    return [context.values.text(one) for one in nouns] if is_time else []


def _open_slot(verb: Token, context: ExtractionContext) -> tuple[str, str] | None:
    """The predicate of a verb's own name, and its object."""
    name, values = present_of(verb), context.values
    for token in children(verb, "dobj"):
        is_duty = lemma(verb) == "do" and children(token, "poss")
        is_object = values.is_thing(token) and not is_duty
        return (predicate_named(name), object_of(token, "", context)) if is_object else None
    for token in children(verb, "xcomp"):  # "to work", which a parse may take for a verb
        if token.tag_ == "NN":
            return predicate_named(f"{name} to"), token.text
        return None
    placed = {
        child.lower_: token for child in children(verb, "prep") for token in children(child, "pobj")
    }
    for preposition in context.lexicon.placing:
        place = placed.get(preposition)
        if place is not None and (values.is_thing(place) or lemma(place) in _PLACES):
            return predicate_named(f"{name} {preposition}"), object_of(place, "", context)
    return None
