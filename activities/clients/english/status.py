"""Status: what a clause says of its own verb: that it is so, was so, is denied, has ended, or nothing.

It stands apart because a veto anywhere above a clause outweighs all that the clause itself says.
"""

import re
from enum import Enum
from typing import NamedTuple

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Grammar
from mnestic.activities.clients.english.trees import (
    CLAUSAL,
    auxiliaries,
    children,
    clause_text,
    is_negated,
    is_verb,
    lemma,
    subjects,
    verb_key,
)


class State(Enum):
    """What a clause says of its verb."""

    NOW = "now"
    PAST = "past"
    PERFECT = "perfect"
    NEGATED = "negated"
    NEVER = "never"
    ENDED = "ended"
    PLANNED = "planned"
    WISHED = "wished"
    NONE = "none"


class Status(NamedTuple):
    """The state; of a perfect, whether it goes on until now, and whether somebody is just at it."""

    state: State
    lasts: bool = False
    is_progressive: bool = False


_NOTHING = Status(State.NONE)
_LASTS = re.compile(r"\b(?:since|for|always|all my life|ever)\b")
_LONG_NOT = re.compile(
    r"\b(?:in|for|since) (?:[\w'-]+ ){0,4}(?:years?|months?|ages|weeks?|long|decades?|while)\b|\bsince\b"
)
_USED = "use"
_HAVE = frozenset({"have", "has", "'ve"})
_WAS = frozenset({"was", "were", "had", "did", "got"})
_IS = frozenset({"is", "are", "am", "'s", "'m", "'re", "m", "s"})
_UNMARKED = frozenset({"quit", "put", "split", "cut"})
_SO_FAR = frozenset({State.NOW, State.PAST, State.PERFECT})
_FACTUAL = frozenset({"although", "though", "because"})
_TOLD_BY_ING = frozenset({"ROOT", "advcl", "conj", "xcomp", "acl"})


def status_of(verb: Token, grammar: Grammar) -> Status:
    """The status of a verb's clause."""
    if _is_vetoed(verb, grammar):
        return _NOTHING
    return _own_status(verb, grammar)


def _is_vetoed(verb: Token, grammar: Grammar) -> bool:
    """Whether the clause, or one above it, is a condition, a wish, a report of others or a purpose."""
    if _is_inverted(verb) or _is_barely(verb, grammar) or _is_cited(verb):
        return True
    token = verb
    for _ in range(8):
        is_wish = token != verb and _is_polite(token)
        if (not is_wish and _is_unreal(token, grammar)) or _is_under_veto(token, grammar):
            return True
        above = _above(token)
        if above is None:
            return False
        token = above
    return False


def _is_inverted(verb: Token) -> bool:
    """Whether a verb stands before its subject as in a question: "am I a doctor", "do I work there"."""
    leads = [verb] if verb.pos_ == "AUX" else []
    leads += children(verb, "aux", "auxpass")
    return any(
        lead.i < subject.i and subject.pos_ == "PRON"
        for lead in leads
        for subject in subjects(verb)
    )


def _is_cited(verb: Token) -> bool:
    """Whether a clause is what another says, word for word: "that's I live in Vienna"."""
    is_whole = verb.dep_ == "ccomp" and verb.i > verb.head.i and not children(verb, "mark")
    return (
        is_whole
        and lemma(verb.head) == "be"
        and any(subject.lower_ in {"that", "this"} for subject in subjects(verb.head))
    )


def _is_barely(verb: Token, grammar: Grammar) -> bool:
    """Whether what completes a verb, or its subject, is hedged: "barely any Dutch", "none of us", "neither of them"."""
    parts = [*children(verb, "dobj", "attr", "acomp", "advmod"), *subjects(verb)]
    near = [each for part in parts for child in part.children for each in (child, *child.children)]
    return any(each.lower_ in grammar.barely for each in (*parts, *near)) or any(
        f" {phrase} " in f" {clause_text(verb)} " for phrase in grammar.less
    )


def _above(token: Token) -> Token | None:
    """The verb, or the noun, of the clause that a clause belongs to."""
    if token.dep_ not in CLAUSAL or token.head == token:
        return None
    if token.dep_ == "conj" and subjects(token) and token.head.dep_ != "ccomp":
        return None
    if token.dep_ == "advcl" and any(mark.lower_ in _FACTUAL for mark in children(token, "mark")):
        return None
    if token.dep_ in {"parataxis", "ccomp"} and _is_beside(token):
        return None
    head = token.head
    if token.dep_ == "pcomp":
        return head.head
    return head


def _is_beside(token: Token) -> bool:
    """Whether a clause stands beside its head, as in "I live in Ghent, do you know it?"."""
    if token.dep_ == "parataxis":
        return True
    return token.i < token.head.i and any(
        child.dep_ == "punct" and token.i < child.i < token.head.i for child in token.head.children
    )


def _is_unreal(verb: Token, grammar: Grammar) -> bool:
    """Whether a verb itself is a condition, a modal or hedged."""
    for child in verb.children:
        if child.dep_ == "mark" and child.lower_ in grammar.conditions:
            return True
        if child.dep_ == "aux" and child.tag_ == "MD" and child.lower_ in grammar.modals:
            return True
        if child.lower_ in grammar.barely or (
            child.dep_ == "advmod" and child.lower_ in grammar.hedges
        ):
            return True
        if child.dep_ == "advcl" and any(
            mark.dep_ == "mark" and mark.lower_ in grammar.conditions for mark in child.children
        ):
            return True
    return False


def _is_under_veto(verb: Token, grammar: Grammar) -> bool:
    """Whether what governs a clause makes it a wish, a report of others, a guess or a purpose."""
    head = verb.head
    if verb.dep_ == "pcomp":
        return lemma(head.head) in grammar.irrealis | grammar.musing
    if verb.dep_ == "acl":
        return lemma(head) in grammar.weak_nouns or (verb.tag_ == "VB" and head.pos_ == "NOUN")
    if verb.dep_ == "advcl":
        return head.pos_ != "NOUN" and _is_purpose(verb, grammar)
    if verb.dep_ not in {"ccomp", "xcomp"} or head == verb or _is_beside(verb):
        return False
    is_irreal = lemma(head) in grammar.irrealis
    if verb.dep_ == "ccomp":
        is_irreal = is_irreal or _is_untrue(head, grammar) or _is_reported(verb, grammar)
        is_irreal = is_irreal or (verb.tag_ == "VB" and lemma(head) in grammar.wishes)
    return is_irreal


def _is_untrue(head: Token, grammar: Grammar) -> bool:
    """As in "it's not true that", "I never said that", "it is false that"."""
    says_so = [child.lower_ for child in children(head, "acomp", "attr")]
    return (is_negated(head) and not children(head, "advcl")) or any(
        word in grammar.untrue for word in says_so
    )


def _is_reported(verb: Token, grammar: Grammar) -> bool:
    """Whether somebody else says so, or the speaker only supposes it."""
    head = verb.head
    if lemma(head) not in grammar.reports:
        return False
    who = subjects(head)
    is_own = not who or any(each.lower_ in {"i", "we"} for each in who)
    return not (is_own and lemma(head) in grammar.own_reports)


def _is_purpose(verb: Token, grammar: Grammar) -> bool:
    has_to = any(child.lower_ == "to" for child in children(verb, "aux"))
    return verb.tag_ == "VB" and has_to and lemma(verb.head) not in grammar.purpose_heads


def _own_status(verb: Token, grammar: Grammar) -> Status:
    """What the clause says by its own auxiliaries, negation and governor."""
    governed = _governed(_first_joined(verb), grammar)
    if governed is not None:
        return governed
    lows = {token.lower_ for token in auxiliaries(verb)}
    if _is_ahead(verb, lows):
        return Status(State.PLANNED)
    if _is_going_to(verb):
        return _NOTHING  # "was going to": it did not come to it
    denied = _denied(verb, grammar, lows)
    if denied is not None:
        return denied
    return _tense(verb, lows)


def _is_ahead(verb: Token, lows: set[str]) -> bool:
    if lows & {"will", "'ll", "wo", "shall"}:
        return True
    return _is_going_to(verb) and not any(
        child.lower_ in {"was", "were"} for child in verb.head.children
    )


def _is_going_to(verb: Token) -> bool:
    has_to = any(child.lower_ == "to" for child in verb.children)
    return (
        verb.dep_ == "xcomp"
        and verb.head.lower_ in {"going", "gon", "about"}
        and verb.tag_ == "VB"
        and has_to
    )


def _denied(verb: Token, grammar: Grammar, lows: set[str]) -> Status | None:
    """The status of a clause that is denied, or that says "no longer"."""
    text = clause_text(verb)
    is_of_other = " , not " in text and not is_negated(verb)  # "in Split, not in Zadar any more"
    if not is_of_other and _is_no_more(text, grammar):
        return Status(State.ENDED)
    if not is_negated(verb) or " not only " in f" {text} ":
        return None
    has_never = any(child.lower_ == "never" for child in verb.children)
    if lows & _HAVE and not has_never:  # "I haven't moved yet" says nothing
        return Status(State.ENDED) if _LONG_NOT.search(text) else _NOTHING
    is_past = lows & _WAS or lows & _HAVE or verb.tag_ in {"VBD", "VBN"}
    return Status(State.NEVER if is_past and (has_never or lows & _WAS) else State.NEGATED)


def _is_no_more(text: str, grammar: Grammar) -> bool:
    """Whether it is so no longer; "any more than you do" compares."""
    return any(
        f" {phrase} " in f" {text} " and f"{phrase} than" not in text for phrase in grammar.no_more
    )


def _first_joined(verb: Token) -> Token:
    """The first of verbs that have one governor, as in "I used to live there and play the tuba"."""
    is_joined = verb.dep_ == "conj" and verb.tag_ == verb.head.tag_ == "VB"
    return _first_joined(verb.head) if is_joined and not subjects(verb) else verb


def _governed(verb: Token, grammar: Grammar) -> Status | None:
    """The status of a clause below "used to", "stopped", "started" or "want to"."""
    head = verb.head
    if verb.dep_ != "xcomp" or not is_verb(head):
        return None
    if lemma(head) == _USED and head.tag_ in {"VBD", "VBN"}:
        return Status(State.ENDED)
    above = _own_status(head, grammar).state
    key = verb_key(head)
    if key in grammar.wishes | grammar.planning:
        ahead = State.WISHED if key in grammar.wishes else State.PLANNED
        return Status(ahead if above is State.NOW else State.NONE)
    if key in grammar.stops:
        return Status(State.ENDED if above in _SO_FAR else State.NONE)
    if key in grammar.starts:
        return Status(State.NOW if above in _SO_FAR else above)
    return _governed_loosely(verb, above)


def _governed_loosely(verb: Token, above: State) -> Status | None:
    """The status of a clause below "have to", "like to" or "go"."""
    key = lemma(verb.head)
    if key == "have" and verb.tag_ == "VB":
        return _had_to(verb, above)
    if key in {"need", "like", "love", "hate"} and verb.tag_ == "VB":
        return Status(State.WISHED) if _is_polite(verb.head) else _NOTHING
    return Status(above) if key == "go" and verb.tag_ == "VBG" else None


def _is_polite(verb: Token) -> bool:
    """As in "I'd like to", "I would love to": a wish, and no condition."""
    modals = {child.lower_ for child in children(verb, "aux")}
    return lemma(verb) in {"like", "love"} and bool(modals & {"'d", "would"})


def _had_to(verb: Token, above: State) -> Status:
    """What somebody had to do was done; "my favourite has to be" is a way to say "is"."""
    if above is State.PAST:
        return Status(State.PAST)
    is_choice = any(
        child.lower_.startswith("favo")
        for subject in subjects(verb.head)
        for child in [subject, *subject.children]
    )
    return Status(State.NOW if is_choice and above is State.NOW else State.NONE)


def _tense(verb: Token, lows: set[str]) -> Status:
    """The tense of a clause that is neither denied nor planned."""
    is_progressive = verb.tag_ == "VBG"
    if _is_perfect(verb, lows):
        asides = [mark.lower_ for child in children(verb, "advcl") for mark in child.children]
        lasts = "since" in asides or bool(_LASTS.search(clause_text(verb))) or is_progressive
        return Status(State.PERFECT, lasts=lasts)
    if "can" in lows and verb.tag_ == "VB":
        return _NOTHING
    if lows & _WAS:
        return Status(State.PAST, is_progressive=is_progressive)
    if lows & _IS or not _is_nothing(verb, lows):
        is_past = not lows & _IS and _is_simple_past(verb, lows)
        return Status(State.PAST if is_past else State.NOW, is_progressive=is_progressive)
    return _NOTHING


def _is_perfect(verb: Token, lows: set[str]) -> bool:
    is_has = "'s" in lows and (
        "been" in lows or (verb.tag_ == "VBN" and not children(verb, "auxpass"))
    )
    return verb.tag_ in {"VBN", "VBD", "VBG"} and (bool(lows & _HAVE) or is_has)


def _is_simple_past(verb: Token, lows: set[str]) -> bool:
    """Whether a verb without an auxiliary is in the past; "I quit" may be."""
    if verb.tag_ == "VBN":  # "Sold the car"
        is_first = verb.dep_ == "advcl" and verb.i < verb.head.i
        return is_first or verb.dep_ in {"ROOT", "conj", "ccomp"}
    is_unmarked = verb.lower_ in _UNMARKED and not lows and verb.tag_ in {"VBP", "VB"}
    return verb.tag_ == "VBD" or is_unmarked


def _is_nothing(verb: Token, lows: set[str]) -> bool:
    """Whether a verb without an auxiliary is an order, a purpose or a noun."""
    if _is_simple_past(verb, lows):
        return False
    if verb.tag_ == "VB":
        is_order = not lows and verb.dep_ == "ROOT"
        return is_order or (verb.dep_ in {"acl", "advcl", "xcomp"} and "to" in lows)
    return verb.tag_ == "VBG" and not lows and verb.dep_ not in _TOLD_BY_ING


def is_limited(verb: Token, grammar: Grammar, *, is_denied: bool) -> bool:
    """Whether a clause denies something of a time, a place or a company alone, or says it *only* of these: "never after lunch".

    Args:
        verb: The verb of the clause, with an object.
        grammar: Its words.
        is_denied: Whether the clause says what somebody does not do or like.
    """
    things = children(verb, "dobj")
    times = [
        one
        for thing in things
        for one in children(thing, "prep")
        if any(noun.ent_type_ in {"DATE", "TIME"} for noun in children(one, "pobj"))
    ]
    limits = [
        one
        for one in (*verb.children, *times)
        if one.lower_ in grammar.limits
        and all(lemma(noun) not in grammar.unlimited for noun in children(one, "pobj"))
    ]
    only = [one for token in (verb, *limits) for one in token.children if one.lower_ == "only"]
    return bool(limits) and bool(things) and (is_denied or bool(only))
