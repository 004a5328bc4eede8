"""Words of change: how texts say that something is different from before, and the patterns that take them apart.

They stand apart from comparisons, which compare texts by them, because they are about languages. The words are data, in
`change_words.yaml`; words by which clauses and their values are told apart are English alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pydantic import ConfigDict, Field
from Stemmer import Stemmer

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.date_words import date_words
from mnestic.memory.language.numbers import any_of, number_words
from mnestic.memory.language.terms import terms_of
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("change_words.yaml")
_BEGINNING = 1000  # characters that are looked at
_SHORTEST_STEM = 3  # characters
_DOUBLED = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")  # *slip*, of *slipped*
_PAST = re.compile(  # but not *is planned*, *is needed* or *the speed*
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!['\u2019]s )(?<!['\u2019]m )\b[a-z]{2,}(?<!ne)ed\b",
    re.IGNORECASE,
)

CLAUSES = re.compile(r"[,;:\u2013\u2014()]+(?!\d)|\s-\s|\b(?:because|but)\b")
NEGATED = re.compile(
    r"\b(?:not|never|no|no longer|any ?more|stopped)\b|n['\u2019]t\b", re.IGNORECASE
)
# "I can't eat any more pizza" ends nothing.
NO_MORE = re.compile(r"\b(?:no longer|anymore)\b|\bany (?:more|longer)\W*$", re.IGNORECASE)
TAKER = re.compile(
    r"^(?:(?:and|so)\s+)?(?P<name>[A-Z][\w'-]+)(?=(?: [A-Z][\w'-]+){0,2} (?:took|takes|has taken|will take) over\b)"
)
TOKEN = re.compile(r"[^\W_](?:[^\s,;!?()\"\u201c\u201d]*[^\W_])?")
JOINT = re.compile(r"\s*(?:(?:and|of|an?|the|per|&)\s+)*")
PREPOSITION = re.compile(
    r"\b(in|at|on|with|for|from|to|of|by)\s+(?:the\s+|an?\s+)?$", re.IGNORECASE
)
OWN = re.compile(r"\b(?:I|me|my|mine|I'm)\b", re.IGNORECASE)


class ChangeWords(NamedTuple):
    """Words, folded, and patterns; see `change_words.yaml`.

    `all` are the words of change, `new` some of them. `may_change` matches a text in lower case, which takes a
    quarter of the time of `changes`. `begins` matches when something is to be so, `onset` also since when it is; `time` matches a
    date or a time of day, and `kinds_of_time` weekdays, months and times of day. `verbs` are irregular verbs by their past forms
    and participles, and `past` matches the past forms. `of_values` matches what gives another value, `replacements` what does beside the old one, and
    `exchanges` what has the old one within.
    `joining` are the stems of verbs that join a thing to its value, `of_times` those of nouns for a time.
    """

    all: frozenset[str]
    new: frozenset[str]
    may_change: re.Pattern[str]
    changes: re.Pattern[str]
    unchanged: re.Pattern[str]
    several: re.Pattern[str]
    begins: re.Pattern[str]
    onset: re.Pattern[str]
    time: re.Pattern[str]
    kinds_of_time: tuple[re.Pattern[str], ...]
    verbs: Mapping[str, str]
    past: re.Pattern[str]
    of_values: re.Pattern[str]
    replacements: re.Pattern[str]
    exchanges: re.Pattern[str]
    joining: frozenset[str]
    of_times: frozenset[str]


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    new: tuple[str, ...]
    words: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    onsets: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    past: dict[str, str] = Field(default_factory=dict)
    participles: dict[str, str] = Field(default_factory=dict)
    of_values: tuple[str, ...] = ()
    to_values: tuple[str, ...] = ()
    replacements: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()
    of_times: tuple[str, ...] = ()


def is_revision(text: str) -> bool:
    """Whether a text has a word by which something is said to be different from before."""
    beginning = text[:_BEGINNING]
    return may_change(beginning) and change_words().changes.search(beginning) is not None


def may_change(text: str) -> bool:
    """Whether a text has the letters of a word of change, which is quickly told."""
    return change_words().may_change.search(text.lower()) is not None


def is_event(text: str) -> bool:
    """Whether a clause tells what happened, rather than what is so."""
    return bool(change_words().past.search(text) or _PAST.search(text))


def stem(term: str) -> str:
    """What the forms of an English word have in common, such as *planned* and *plans*, *drove* and *drive*, or *ship* and *shipment*."""
    return _regular_stem(change_words().verbs.get(term, term))


def other_forms(word: str) -> frozenset[str]:
    """The irregular forms of an English verb that full text search takes for other words: *bought* for *buy*, and *buy* for *bought*."""
    return _verb_forms().get(stem(word), frozenset()) - {word}


@cache
def _verb_forms() -> Mapping[str, frozenset[str]]:
    """The verb and its irregular forms, by what all of them have in common."""
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for form, verb in change_words().verbs.items():
        forms[stem(verb)] |= {form, verb}
    return {common: frozenset(found) for common, found in forms.items()}


def stems_of(text: str) -> frozenset[str]:
    """What the forms of the content words of a text have in common."""
    return frozenset(map(stem, terms_of(text[:_BEGINNING])))


def _regular_stem(term: str) -> str:
    regular: str = _stemmer().stemWord(term)
    shortest = regular.removesuffix("ment")  # which Porter's algorithm keeps behind one syllable
    return shortest if len(shortest) >= _SHORTEST_STEM else regular


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english", 0)  # without a cache of the words that people say


@cache
def change_words() -> ChangeWords:
    """The words and patterns, read once."""
    lists = [*read_word_lists(_FILE, _Words).values()]

    def words(name: str) -> list[str]:
        return [word for one in lists for word in getattr(one, name)]

    month, day = any_of(date_words().months), any_of(date_words().weekdays)
    cardinal, ordinal = number_words().cardinal, number_words().ordinal
    date = rf"(?:{ordinal} (?:of )?|\d{{1,2}} )?(?:{month})\b(?: (?:\d{{1,2}}\b(?!:)|{ordinal}))?(?:,? \d{{4}}\b)?|{day}"
    from_on = (  # "from June on"
        rf"from (?:then|today|tomorrow|(?:next|this) [a-z]+|(?:\d+ )?(?:{month}|{day})(?: \d+)?|\d{{4}})"
        r" on(?:wards?)?"
    )
    change = _either([*words("phrases"), *words("words"), *words("new"), from_on])
    begins = rf"\b(?:{from_on}|(?:as of|as from|starting|effective)(?: in| from| on)? (?:{date}))\b"
    past = {form: verb for one in lists for form, verb in one.past.items()}
    verbs = past | {form: verb for one in lists for form, verb in one.participles.items()}
    to_values = [form for verb in words("to_values") for form in _forms(verb, verbs)]
    return ChangeWords(
        all=frozenset(
            [*words("words"), *words("new"), *(w for one in words("phrases") for w in one.split())]
        ),
        new=frozenset(words("new")),
        may_change=re.compile(rf"\b(?:{change})\b"),
        # Of a name such as New York, "new" says nothing, but for "New Wi-Fi password: …".
        changes=_compiled(
            rf"\b(?!(?-i:New) (?-i:[A-Z]))(?:{change})\b|^\W*new\b(?=[^.:!?]{{1,60}}:)"
        ),
        unchanged=_compiled(rf"\?|\b(?:{_either(words('unchanged'))})\b"),
        several=_compiled(rf"\b(?:{_either(words('several'))})\b"),
        begins=_compiled(begins),
        onset=_compiled(rf"{begins}|\b(?:{_either(words('onsets'))})\b"),
        time=_compiled(
            rf"\b(?:{date}|(?:{day})s?|noon|midnight|\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|\d{{1,2}} ?[ap]m"
            rf"|(?<=at )(?:(?:half past|quarter (?:past|to)) )?{cardinal})\b"
        ),
        kinds_of_time=(
            _compiled(rf"\b(?:{day})s?\b"),
            _compiled(rf"\b(?:{month})\b"),
            _compiled(
                rf"\b\d{{1,2}}[:.]\d\d|\b\d{{1,2}} ?[ap]m\b|\b(?:noon|midnight)\b"
                rf"|(?<=at )(?:half past |quarter (?:past|to) )?{cardinal}\b(?![:.]\d| ?[ap]m)"
            ),
        ),
        verbs=MappingProxyType(verbs),
        past=_compiled(rf"\b(?:{_either(past)})\b"),
        of_values=_phrases([*words("of_values"), *(f"{form} * to" for form in to_values)]),
        replacements=_phrases(words("replacements")),
        exchanges=_phrases(f"{form} from * to" for form in (*words("words"), *to_values)),
        joining=frozenset(_regular_stem(verbs.get(word, word)) for word in words("joining")),
        of_times=frozenset(_regular_stem(word) for word in words("of_times")),
    )


def _forms(verb: str, irregular: Mapping[str, str]) -> Iterator[str]:
    """The forms of a verb, such as *slips*, *slipped* and *slipping*."""
    last = verb[-1] if _DOUBLED.search(verb) else ""
    yield from (form for form, of in irregular.items() if of == verb)
    for ending in ("", "s", "es", "ed", "ing"):
        is_vowel = ending[:1] in ("e", "i")
        yield f"{verb.removesuffix('e')}{last}{ending}" if is_vowel else f"{verb}{ending}"


def _phrases(phrases: Iterable[str]) -> re.Pattern[str]:
    longest = sorted(phrases, key=len, reverse=True)
    parts = (r"(?:\S+ ){0,5}?".join(map(re.escape, one.split("* "))) for one in longest)
    return _compiled(rf"\b(?:{_either(parts)})\b")


def _either(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
