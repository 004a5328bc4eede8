"""Endings: what a clause says is over, matched with what was claimed before, and what takes its place.

The words of an end need not name the fact: *I sold the Volvo* ends whatever had one.
"""

from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import Clause, ExtractionContext, claim_of
from mnestic.activities.clients.english.objects import gerund_of, object_of, present_of
from mnestic.activities.clients.english.status import Status
from mnestic.activities.clients.english.trees import children, is_set_against, lemma
from mnestic.memory.knowledge.claims import may_mean, name_key
from mnestic.memory.knowledge.extraction import Extracted

_DONE = frozenset({Status.PAST, Status.PERFECT})
_PARTNERS = frozenset({"partner", "married_to", "engaged_to"})
_TASTES = frozenset({"likes", "dislikes", "is_a"})
_NAMING = frozenset({"dobj", "pobj", "nsubj", "nsubjpass", "conj"})
_SO = frozenset({"affirmed", "corrected"})
_JOB = "job_title"
_ALL_NOUNS = ("from", "with", "to", "of", "on", "at", "in", "out of", "for")


def endings_of(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """The ends that a clause states."""
    if clause.status is Status.ENDED:
        yield from _no_more(clause, context)
    keys = [key for key in clause.keys if key in context.lexicon.ends]
    is_state = clause.status is Status.NOW and any(key.startswith("be ") for key in keys)
    if clause.status not in _DONE and not is_state:
        return
    is_closing = lemma(clause.verb) in context.lexicon.closing
    is_closing = is_closing or not context.lexicon.closing.isdisjoint(clause.keys)
    if keys or is_closing:
        mentions = list(_mentions(clause, keys, context))
        yield from _of_known(clause, mentions, context)
        yield from _of_predicates(clause, keys, mentions, context=context)
    yield from _swapped(clause, context)


def _mentions(
    clause: Clause, keys: Sequence[str], context: ExtractionContext
) -> Iterator[tuple[Token, str]]:
    """What an ending clause names, with the words for it; nobody leaves a place who leaves something there."""
    is_left = lemma(clause.verb) == "leave" and bool(children(clause.verb, "dobj"))
    slots = dict.fromkeys((*clause.keys, *keys), ("", "from") if is_left else ("", *_ALL_NOUNS))
    wanted = {f"{key} {slot}".strip() for key, names in slots.items() for slot in names}
    tokens = [token for key, token in clause.objects if key in wanted]
    is_about_it = bool(children(clause.verb, "auxpass")) or not tokens
    for token in [*tokens, *(clause.subject_tokens if is_about_it else ())]:
        is_thing = is_left and children(token, "poss") and lemma(token) not in context.lexicon.nouns
        is_other = token.pos_ == "PRON" or token.lower_ in context.lexicon.vague or is_thing
        is_other = is_other or is_set_against(token)
        if token.dep_ in _NAMING and not is_other and not context.values.is_date(token):
            person = context.entities.person_of(token)
            called = person.called if person else ""
            yield token, called or context.values.text(token, with_phrase=token.pos_ == "NOUN")


def _owners(clause: Clause, context: ExtractionContext) -> list[str]:
    """Whose things end: those of the subjects, or of the speaker where these are things or unknown."""
    known = {one.subject for one in context.known()}
    named = [one.subject for one in clause.subjects]
    is_of_others = [one for one in named if one in known or one == context.entities.speaker]
    return is_of_others or [*named, context.entities.speaker]


def _of_known(
    clause: Clause, mentions: Sequence[tuple[Token, str]], context: ExtractionContext
) -> Iterator[Extracted]:
    """Ends of what was claimed and is named."""
    owners = {name_key(one) for one in _owners(clause, context)}
    for known in context.known():
        is_of = name_key(known.subject) in owners and known.kind in _SO and known.object
        if not is_of or known.predicate in _TASTES:
            continue
        attribute = known.predicate.replace("_", " ")
        for _, text in mentions:
            said = name_key(text)
            is_named = may_mean(said, name_key(known.object or "")) or may_mean(said, attribute)
            if is_named or _is_deed_of(said, known.predicate):
                slot = (known.predicate, known.object)
                yield claim_of(clause, known.subject, slot, kind="ended", context=context)
                break


def _is_deed_of(said: str, predicate: str) -> bool:
    """Whether a gerund is of the verb of a predicate: "smoking" of `smokes`."""
    stem = predicate.split("_", maxsplit=1)[0].removesuffix("s").removesuffix("e")
    return said.endswith("ing") and said.removesuffix("ing").startswith(stem) and stem != predicate


def _of_predicates(
    clause: Clause,
    keys: Sequence[str],
    mentions: Sequence[tuple[Token, str]],
    *,
    context: ExtractionContext,
) -> Iterator[Extracted]:
    """Ends under the predicates that a verb speaks of, of what it names or of whatever there is."""
    pairs = {key: context.lexicon.ends[key].split() for key in keys}
    pairs |= {
        key: context.lexicon.ends[key].split()
        for key, _ in clause.objects
        if key in context.lexicon.ends
    }
    predicates = list(dict.fromkeys(one for each in pairs.values() for one in each))
    jobs = [token for token, _ in mentions if context.lexicon.nouns.get(lemma(token)) == _JOB]
    if jobs:  # "I gave up my job at Aldi" ends nothing else that one gives up
        predicates = [one for one in predicates if one == "employer"]
    subjects = [one.subject for one in clause.subjects]
    for token, text in mentions:
        is_subject = token.dep_.startswith("nsubj")
        for subject in subjects if not is_subject else ():
            for predicate in predicates:
                slot = (predicate, None if token in jobs else text)
                yield claim_of(clause, subject, slot, kind="ended", context=context)
    is_bare = not any(key.startswith(f"{one} ") for one in pairs for key, _ in clause.objects)
    if (is_bare and not children(clause.verb, "dobj", "xcomp", "prt")) or len(subjects) > 1:
        yield from _whatever(
            clause, [one for one in predicates if one in _PARTNERS | {"employer"}], context
        )
    yield from _lost_kin(clause, predicates, context)


def _whatever(
    clause: Clause, predicates: Sequence[str], context: ExtractionContext
) -> Iterator[Extracted]:
    """As in "I got fired", "we split up", "Theo and I split up"."""
    speaker = context.entities.speaker
    others = [one for one in clause.subjects if one.subject != speaker]
    is_of_two = (
        len(others) == 1 and len(clause.subjects) > 1 and not _PARTNERS.isdisjoint(predicates)
    )
    for person in clause.subjects:
        if is_of_two and person.subject != speaker:
            continue
        value = (others[0].called or others[0].subject) if is_of_two else None
        for predicate in predicates:
            slot = (predicate, value)
            yield claim_of(clause, person.subject, slot, kind="ended", context=context)


def _lost_kin(
    clause: Clause, predicates: Sequence[str], context: ExtractionContext
) -> Iterator[Extracted]:
    """As in "my cat died"."""
    for person in clause.subjects if "pet" in predicates else ():
        if person.owner and person.called:
            slot = (person.kin, person.called)
            yield claim_of(clause, person.owner, slot, kind="ended", context=context)


def _no_more(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """As in "I no longer run", "I gave up playing": what the verb alone names."""
    if any(token.dep_ in {"dobj", "pobj", "attr", "acomp"} for _, token in clause.objects):
        return
    verb = lemma(clause.verb)
    slots = ("", " at", " in", " for")
    names = {present_of(clause.verb), *(context.lexicon.now.get(f"{verb}{one}") for one in slots)}
    for person in clause.subjects:
        hobby = ("hobby", gerund_of(clause.verb))
        yield claim_of(clause, person.subject, hobby, kind="ended", context=context)
        for known in context.known():
            is_same = name_key(known.subject) == name_key(person.subject)
            if is_same and not names.isdisjoint({known.predicate, known.predicate.split("_")[0]}):
                slot = (known.predicate, known.object)
                yield claim_of(clause, person.subject, slot, kind="ended", context=context)


def _swapped(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """As in "I switched from Vodafone to O2": the new value takes the place of the old one, whatever it was of."""
    verb = lemma(clause.verb)
    if verb not in context.lexicon.swaps:
        return
    old_slot, new_slot = context.lexicon.swaps[verb].split()
    old = children(clause.verb, "dobj") if old_slot == "dobj" else clause.find(f"{verb} {old_slot}")
    new = clause.find(f"{verb} {new_slot}")
    owners = {name_key(person.subject) for person in clause.subjects}
    for known in context.known():
        said = [name_key(context.values.text(token)) for token in old]
        is_meant = any(may_mean(one, name_key(known.object or "")) for one in said)
        if not (new and is_meant and name_key(known.subject) in owners):
            continue
        subject, predicate = known.subject, known.predicate
        value = object_of(new[0], "", context)
        yield claim_of(clause, subject, (predicate, known.object), kind="ended", context=context)
        yield claim_of(clause, subject, (predicate, value), kind="affirmed", context=context)
