"""Status: what a clause says of its own verb: that it is so, was so, is denied, has ended, or nothing.

A veto anywhere above a clause outweighs all that the clause itself says.
"""

import re
from enum import Enum

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Lexicon
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


class Status(Enum):
    """What a clause says of its verb; `LASTING` is a perfect that goes on until now."""

    NOW = "now"
    DOING = "doing"
    PAST = "past"
    PERFECT = "perfect"
    LASTING = "lasting"
    NEGATED = "negated"
    ENDED = "ended"
    PLANNED = "planned"
    NONE = "none"


_LASTS = re.compile(r"\b(?:since|for|always|all my life|ever)\b")
_LONG_NOT = re.compile(
    r"\b(?:in|for|since) (?:[\w'-]+ ){0,4}(?:years?|months?|ages|weeks?|long|decades?)\b|\bsince\b"
)
_HAVE = frozenset({"have", "has", "'ve", "ve"})
_WAS = frozenset({"was", "were", "had", "did", "got"})
_IS = frozenset({"is", "are", "am", "'s", "'m", "'re", "m", "s"})
_UNMARKED = frozenset({"quit", "put", "split", "cut"})
_SO_FAR = frozenset({Status.NOW, Status.DOING, Status.PAST, Status.PERFECT, Status.LASTING})
_FACTUAL = frozenset({"although", "though", "because", "so", "since"})
_HEIGHT = 8  # clauses above one that may speak against it


def status_of(verb: Token, lexicon: Lexicon) -> Status:
    """The status of a verb's clause."""
    return Status.NONE if _is_vetoed(verb, lexicon) else _own_status(verb, lexicon)


def _is_vetoed(verb: Token, lexicon: Lexicon) -> bool:
    """Whether the clause, or one above it, is a question, a condition, a wish, a report of others or a purpose."""
    if _is_inverted(verb) or _is_hedged(verb, lexicon):
        return True
    token: Token | None = verb
    for _ in range(_HEIGHT):
        if token is None:
            return False
        if _is_unreal(token, lexicon) or _is_governed_by_veto(token, lexicon):
            return True
        token = _above(token)
    return True


def _is_inverted(verb: Token) -> bool:
    """Whether a verb stands before its subject as in a question: "am I a doctor", "do I work there"."""
    leads = [*([verb] if verb.pos_ == "AUX" else []), *children(verb, "aux", "auxpass")]
    return any(
        lead.i < one.i and (one.pos_ == "PRON" or lead.is_sent_start)
        for lead in leads
        for one in subjects(verb)
    )


def _is_hedged(verb: Token, lexicon: Lexicon) -> bool:
    parts = [verb, *children(verb, "dobj", "attr", "acomp", "advmod"), *subjects(verb)]
    near = [*parts, *(child for part in parts for child in part.children)]
    return any(each.lower_ in lexicon.hedges for each in near)


def _above(token: Token) -> Token | None:
    """The verb, or the noun, of the clause that a clause belongs to; None where it stands for itself."""
    if token.dep_ not in CLAUSAL or token.head == token:
        return None
    if token.dep_ == "conj" and subjects(token) and token.head.dep_ != "ccomp":
        return None
    if token.dep_ == "advcl" and any(mark.lower_ in _FACTUAL for mark in children(token, "mark")):
        return None
    if token.dep_ in {"parataxis", "ccomp"} and _is_beside(token):
        return None
    return token.head.head if token.dep_ == "pcomp" else token.head


def _is_beside(token: Token) -> bool:
    """Whether a clause stands beside its head, as in "I live in Ghent, do you know it?"."""
    if token.dep_ == "parataxis":
        return True
    is_parted = any(
        child.dep_ == "punct" and token.i < child.i < token.head.i for child in token.head.children
    )
    return token.i < token.head.i and is_parted and not _is_saying(token.head)


def _is_saying(verb: Token) -> bool:
    return lemma(verb) in {"say", "tell", "claim", "think", "guess", "hear"}


def _is_unreal(verb: Token, lexicon: Lexicon) -> bool:
    """Whether a verb itself is a condition, has a modal, or depends on a condition."""
    for child in verb.children:
        if child.dep_ == "mark" and child.lower_ in lexicon.conditions:
            return True
        is_modal = child.dep_ == "aux" and (child.tag_ == "MD" or child.lower_ == "'d")
        if is_modal and child.lower_ in lexicon.modals:
            return True
        is_condition = child.dep_ == "advcl" and any(
            each.lower_ in lexicon.conditions for each in children(child, "mark")
        )
        if is_condition:
            return True
    return False


def _is_governed_by_veto(verb: Token, lexicon: Lexicon) -> bool:
    """Whether what governs a clause makes it a wish, a report of others, a guess or a purpose."""
    head = verb.head
    if verb.dep_ == "pcomp":
        return lemma(head.head) in lexicon.irrealis
    if verb.dep_ == "acl":
        return lemma(head) in lexicon.weak_nouns or (verb.tag_ == "VB" and head.pos_ == "NOUN")
    if verb.dep_ == "advcl":
        return (
            head.pos_ != "NOUN"
            and verb.tag_ == "VB"
            and any(each.lower_ == "to" for each in children(verb, "aux"))
        )
    if verb.dep_ not in {"ccomp", "xcomp"} or head == verb or _is_beside(verb):
        return False
    if verb.dep_ == "xcomp":
        return lemma(head) in lexicon.irrealis and verb.tag_ == "VB"
    return (
        lemma(head) in lexicon.irrealis or _is_untrue(head, lexicon) or _is_reported(head, lexicon)
    )


def _is_untrue(head: Token, lexicon: Lexicon) -> bool:
    """As in "it's not true that", "I never said that", "it is false that"."""
    return is_negated(head) or any(
        each.lower_ in lexicon.untrue for each in children(head, "acomp", "attr")
    )


def _is_reported(head: Token, lexicon: Lexicon) -> bool:
    """Whether somebody else says so; "as I said" is one's own."""
    who = subjects(head)
    is_own = bool(who) and all(each.lower_ in {"i", "we"} for each in who)
    return lemma(head) in lexicon.reports and not is_own


def _own_status(verb: Token, lexicon: Lexicon) -> Status:
    """What the clause says by its own auxiliaries, negation and governor."""
    governed = _governed(_first_joined(verb), lexicon)
    if governed is not None:
        return governed
    lows = {token.lower_ for token in auxiliaries(verb)}
    if lows & {"will", "'ll", "wo", "shall"} or _is_going_to(verb):
        return Status.PLANNED
    return _denied(verb, lexicon, lows) or _tense(verb, lows)


def _is_going_to(verb: Token) -> bool:
    has_to = any(child.lower_ == "to" for child in verb.children)
    return (
        verb.dep_ == "xcomp"
        and verb.head.lower_ in {"going", "gon", "about"}
        and verb.tag_ == "VB"
        and has_to
    )


def _denied(verb: Token, lexicon: Lexicon, lows: set[str]) -> Status | None:
    """The status of a clause that is denied, or that says "no longer"."""
    text = f" {clause_text(verb)} "
    phrases = [one for one in lexicon.no_more if f" {one} " in text and f"{one} than" not in text]
    is_past = verb.tag_ == "VBD" and not is_negated(verb)
    if phrases and not (is_past and "no longer" not in phrases):
        return Status.ENDED
    if not is_negated(verb) or " not only " in text:
        return None
    if lows & _HAVE:
        return Status.ENDED if _LONG_NOT.search(text) else Status.NONE
    is_past = bool(lows & _WAS) or verb.tag_ in {"VBD", "VBN"}
    return Status.NONE if is_past else Status.NEGATED


def _first_joined(verb: Token) -> Token:
    """The first of verbs that have one governor, as in "I used to live there and play the tuba"."""
    is_joined = verb.dep_ == "conj" and verb.tag_ == verb.head.tag_ == "VB"
    return _first_joined(verb.head) if is_joined and not subjects(verb) else verb


def _governed(verb: Token, lexicon: Lexicon) -> Status | None:
    """The status of a clause below "used to", "stopped" or "started"."""
    head = verb.head
    if verb.dep_ != "xcomp" or not is_verb(head):
        return None
    if lemma(head) == "use" and head.tag_ in {"VBD", "VBN"}:
        return Status.ENDED
    key = verb_key(head).replace(" ", "_")
    if key in lexicon.stops:
        return Status.ENDED if _own_status(head, lexicon) in _SO_FAR else Status.NONE
    if key in lexicon.starts and verb.tag_ == "VBG":
        return Status.NOW if _own_status(head, lexicon) in _SO_FAR else Status.NONE
    if lemma(head) == "have" and verb.tag_ == "VB":
        is_done = _own_status(head, lexicon) is Status.PAST
        return Status.PAST if is_done else Status.NONE
    return None


def _tense(verb: Token, lows: set[str]) -> Status:
    """The tense of a clause that is neither denied nor planned."""
    is_doing = verb.tag_ == "VBG"
    has_been = "'s" in lows and (
        "been" in lows or (verb.tag_ == "VBN" and not children(verb, "auxpass"))
    )
    if verb.tag_ in {"VBN", "VBD", "VBG"} and (lows & _HAVE or has_been or lows == {"been"}):
        asides = {mark.lower_ for child in children(verb, "advcl") for mark in child.children}
        lasts = is_doing or "since" in asides or bool(_LASTS.search(clause_text(verb)))
        return Status.LASTING if lasts else Status.PERFECT
    if "can" in lows and verb.tag_ == "VB":
        return Status.NONE
    if lows & _WAS:
        return Status.PAST
    if lows & _IS:
        return Status.DOING if is_doing else Status.NOW
    return _bare_tense(verb, lows)


def _bare_tense(verb: Token, lows: set[str]) -> Status:
    """The tense of a verb without an auxiliary; an order or a purpose is none."""
    is_unmarked = verb.lower_ in _UNMARKED and not lows and verb.tag_ in {"VBP", "VB"}
    is_fragment = verb.tag_ == "VBN" and verb.dep_ in {"ROOT", "conj", "ccomp", "acl", "advcl"}
    if verb.tag_ == "VBD" or is_unmarked or is_fragment:
        return Status.PAST
    if verb.tag_ == "VBG":
        return (
            Status.DOING if verb.dep_ in {"ROOT", "advcl", "conj", "acl", "xcomp"} else Status.NONE
        )
    is_order = verb.tag_ == "VB" and not lows and not subjects(verb) and verb.dep_ != "conj"
    return Status.NONE if is_order or "to" in lows else Status.NOW
