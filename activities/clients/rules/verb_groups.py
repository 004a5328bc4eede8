"""Verb groups: "have not been living", "used to work", "am going to stop eating" as one verb each.

They stand apart from clauses because this is where denial, wish and doubt are told from fact.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnestic.activities.clients.rules.lexing import Word
from mnestic.activities.clients.rules.verbs import FORMS, Form
from mnestic.memory.language.dates import Tense

Mood = Literal["plain", "plan", "wish", "used_to", "stopped", "modal"]

ADVERBS = frozenset(
    "also just still really now currently recently actually always already both only finally often even "
    "mostly sometimes usually normally typically regularly generally both all definitely certainly truly "
    "absolutely totally officially happily proudly mainly primarily then once again soon originally "
    "previously formerly temporarily permanently lately first kind sort of simply quite so honestly "
    "literally genuinely secretly occasionally".split()
)
_HARDLY = frozenset("rarely seldom hardly barely scarcely".split())
_MODALS = frozenset("would could should might may must can shall will".split())
_BE = frozenset("am is are was were be been being".split())
_HAVE = frozenset("have has had having".split())
_DO = frozenset("do does did".split())
_ABLE = frozenset("speak play".split())
_PLANS = frozenset("plan intend decide book sign".split())
_WISHES = frozenset("want hope wish".split())
_ENDS = frozenset("stop quit give finish".split())
_BEGINS = frozenset("start begin take".split())
_ONLY_TRIED = frozenset(
    "need try have forget use expect offer promise refuse fail manage love".split()
) - {"love"}
_PERFECT, _PAST = frozenset({"participle"}), frozenset({"past"})


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A verb, and all that is said by the words around it.

    `following` is the word after it; `phrase` is where a planned or wished verb stands. `is_past` is
    "no longer"; `is_never` is "never"; `has_begun` is "started to"; `is_remote` is "had lived",
    before something else that is past; `governor` is the verb that plans.
    """

    lemma: str
    following: int
    phrase: int
    tense: Tense = "present"
    mood: Mood = "plain"
    is_negated: bool = False
    is_never: bool = False
    is_past: bool = False
    is_perfect: bool = False
    is_remote: bool = False
    is_progressive: bool = False
    has_begun: bool = False
    governor: str = ""


@dataclass(slots=True)
class _State:
    place: int
    modal: str = ""
    be: bool = False
    perfect: bool = False
    past: bool = False
    helped: bool = False
    negated: bool = False
    never: bool = False
    over: bool = False
    mood: Mood = "plain"
    begun: bool = False
    progressive: bool = False
    governor: str = ""


def verb_at(
    words: Sequence[Word], index: int, *, person: str, is_plural: bool = False
) -> VerbGroup | None:
    """The verb group that begins at a word; None where there is none.

    Args:
        words: Of the sentence.
        index: Where it would begin.
        person: Of its subject: "first", "second", "third", "other", or "noun" for a thing of somebody.
        is_plural: Whether the subject is two people.
    """
    state = _State(index)
    while state.place < len(words) and _take_helper(words, state):
        pass
    if state.place >= len(words):
        return _copula(words, state) if state.be else None
    form = _main_form(words[state.place], state, person=person, is_plural=is_plural)
    if form is None or (state.be and person == "noun"):
        return _copula(words, state) if state.be else None
    lemma, kind = form
    if kind == "ing":
        state.progressive = True
    if kind == "past":
        state.past = True
    return _governed(words, state, lemma)


def _take_helper(words: Sequence[Word], state: _State) -> bool:
    """Takes one word that helps the verb; False at the verb itself."""
    word = words[state.place].low
    following = words[state.place + 1].low if state.place + 1 < len(words) else ""
    step = 1
    is_open = word == "not" and following in {"only", "just", "merely"}
    if is_open or word in _HARDLY:
        state.modal = "could"  # "I don't only like tea" leaves open what is so
    elif word == "not":
        state.negated = True
    elif word == "never":
        state.negated = state.never = True
    elif word == "no" and following == "longer":
        state.over, step = True, 2
    elif word == "used" and following == "to" and not state.be:
        state.mood, state.past, state.helped, step = "used_to", True, True, 2
    elif (
        word == "going" and following == "to" and state.be and _is_base(words, state.place + 2)
    ) or (word == "gonna"):
        state.mood, state.be, state.helped, step = "plan", False, True, 2 if word == "going" else 1
    elif word in ADVERBS:
        pass
    else:
        return _take_auxiliary(words, state, word)
    state.place += step
    return True


def _take_auxiliary(words: Sequence[Word], state: _State, word: str) -> bool:
    if word in _MODALS and not state.be and not state.modal:
        state.modal = word
    elif word in _BE:
        state.be = True
        state.past = state.past or word in {"was", "were"}
    elif word in _HAVE and not state.be and _has_participle(words, state.place + 1):
        state.perfect = True
        state.past = state.past or word == "had"
    elif word in _DO and not state.helped and _is_base(words, state.place + 1, skips=True):
        state.helped = True
        state.past = state.past or word == "did"
    else:
        return False
    state.place += 1
    return True


def _skipped(words: Sequence[Word], index: int) -> int:
    while index < len(words) and (
        words[index].low in ADVERBS or words[index].low in {"not", "never"}
    ):
        index += 1
    return index


def _has_participle(words: Sequence[Word], index: int) -> bool:
    index = _skipped(words, index)
    if index >= len(words):
        return False
    low = words[index].low
    return low == "been" or any(form == "participle" for _, form in FORMS.get(low, ()))


def _is_base(words: Sequence[Word], index: int, *, skips: bool = False) -> bool:
    index = _skipped(words, index) if skips else index
    if index >= len(words):
        return False
    low = words[index].low
    if low in {"be", "have"}:
        return True
    return any(form == "base" for _, form in FORMS.get(low, ())) or (
        skips and words[index - 1].low == "not"
    )


def _main_form(
    word: Word, state: _State, *, person: str, is_plural: bool
) -> tuple[str, Form] | None:
    """Which verb a word is here, and in which form; None for a word that is none."""
    forms = FORMS.get(word.low, ())
    allowed: set[Form] = {"past", "s"}
    if state.be:
        allowed = {"ing"}
    elif state.perfect:
        allowed = {"participle"}
    elif state.modal or state.helped:
        allowed = {"base"}
    elif person in {"first", "second"} or is_plural:
        allowed = {"base", "past"}
    elif person in {"other", "noun"}:
        allowed = {"base", "past", "s"}
    fitting = [pair for pair in forms if pair[1] in allowed]
    return fitting[-1] if fitting else None  # "I quit" has happened


def _copula(words: Sequence[Word], state: _State) -> VerbGroup:
    return _group(words, state, "be", following=state.place, phrase=state.place)


def _governed(words: Sequence[Word], state: _State, lemma: str) -> VerbGroup:
    """Looks through "stop", "start", "plan to", "want to" at the verb that they govern."""
    phrase = state.place
    for _ in range(3):
        place = state.place + 1
        low = words[place].low if place < len(words) else ""
        if low == "up" and lemma in {"give", "take"}:
            place += 1
            low = words[place].low if place < len(words) else ""
        inner = _inner_verb(words, place, lemma)
        if inner is None:
            break
        if not _enter(words, state, lemma, low=low):
            return _group(words, state, "", following=place, phrase=phrase)
        lemma, state.place = inner
        phrase = state.place if state.mood in {"plan", "wish"} else phrase
    if state.modal == "would" and lemma == "like" and not state.negated:
        state.mood, state.modal = "wish", ""
    if lemma in _WISHES and state.mood == "plain":
        state.mood, phrase = "wish", state.place + 1
    if state.mood in {"plan", "wish"} and state.past and state.governor != "decide":
        state.mood = "modal"  # what was meant or wished once is not known to be so today
    return _group(words, state, lemma, following=state.place + 1, phrase=phrase)


def _inner_verb(words: Sequence[Word], place: int, lemma: str) -> tuple[str, int] | None:
    if place >= len(words):
        return None
    low = words[place].low
    if lemma in _ENDS | _BEGINS | {"keep", "continue"}:
        doing = [verb for verb, form in FORMS.get(low, ()) if form == "ing"]
        if doing:
            return doing[0], place
    if lemma in _PLANS | _WISHES | _ONLY_TRIED | _BEGINS | {"like", "continue"}:
        place += low == "not"
        if place + 1 < len(words) and words[place].low == "to" and lemma != "book":
            for verb, form in FORMS.get(words[place + 1].low, ()):
                if form == "base":
                    return verb, place + 1
            return (words[place + 1].low, place + 1) if words[place + 1].low.isalpha() else None
    return None


def _enter(words: Sequence[Word], state: _State, lemma: str, *, low: str) -> bool:
    """What a governing verb makes of the inner one; False when it makes it uncertain."""
    if lemma in _ONLY_TRIED or (lemma in _ENDS and state.mood != "plain"):
        return False  # who plans to stop working does not plan to work
    if lemma in _ENDS:
        state.mood = "stopped"
    elif lemma in _BEGINS:
        state.begun = True
    elif lemma in _PLANS:
        state.mood, state.governor = "plan", lemma
        state.negated = state.negated or low == "not"
    elif lemma in _WISHES:
        state.mood = "wish"
    elif lemma == "like":
        if state.modal != "would":
            return words[state.place].low == "never"  # "I like to swim" is read by its pattern
        state.mood, state.modal = "wish", ""
    return True


def _group(
    words: Sequence[Word], state: _State, lemma: str, *, following: int, phrase: int
) -> VerbGroup:
    tense: Tense = "past" if state.past or state.perfect else "present"
    mood = state.mood
    if state.modal in {"will", "shall"} or mood in {"plan", "wish"}:
        tense = "future"
    elif state.modal and not (state.modal == "can" and lemma in _ABLE | {"stand"}):
        mood = "modal"
    return VerbGroup(
        lemma,
        following,
        min(phrase, len(words) - 1),
        tense=tense,
        mood=mood,
        is_negated=state.negated,
        is_never=state.never,
        is_past=state.over,
        is_perfect=state.perfect,
        is_remote=state.perfect and state.past,
        is_progressive=state.progressive,
        has_begun=state.begun,
        governor=state.governor,
    )
