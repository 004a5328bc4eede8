"""The names of a topic: what somebody types to have something forgotten, as the words and identifiers that are looked for.

This is how a request is understood: words of a command are no part of a topic, alternatives are names of one thing, and
an identifier is no row of words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.proper_names import (
    initials_of,
    join_initials,
    proper_names,
    words_of_name,
)
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.identifiers import (
    Identifier,
    find_identifiers,
    is_identifier_noun,
)
from mnestic.memory.language.languages import LanguageVote, content_words
from mnestic.memory.language.terms import normalised, words_of
from mnestic.memory.language.word_lists import parse_yaml

LONGEST_TOPIC = 1_000  # characters
_FILE = Path(__file__).with_name("topic_phrases.yaml")
_MASK = "\ue000"  # in place of an identifier, in which a slash separates nothing
_QUOTED = re.compile(r"""\s*(?:"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»)\s*""")
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’ʼ]s\b", re.IGNORECASE)  # noqa: RUF001 (apostrophes of many kinds are meant)


@dataclass(frozen=True, kw_only=True)
class TopicName:
    """A name of a topic: what has all its words, folded, and all its identifiers speaks of the topic.

    `initials` are those of its words that stand for initials. `proper` are its words that are of a proper name of several.
    """

    text: str
    words: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    initials: frozenset[str] = frozenset()
    proper: frozenset[str] = frozenset()

    def covers(self, other: "TopicName") -> bool:
        """Whether what speaks of the other by its name has this name too."""
        return {*self.words} <= {*other.words} and all(
            any(one.is_same(theirs) for theirs in other.identifiers) for one in self.identifiers
        )

    @property
    def terms(self) -> list[str]:
        """What the name is made of, in one order however it is written."""
        return sorted([*self.words, *(one.key for one in self.identifiers)])


def parse_topic(topic: str) -> tuple[TopicName, ...]:
    """The names of a topic, in their order, each once.

    Raises:
        InvalidInputError: it has no word that means something and no identifier, or is too long.
    """
    if len(topic) > LONGEST_TOPIC:
        why = f"has {len(topic)} characters, the limit is {LONGEST_TOPIC}; name it in a few words"
        raise InvalidInputError(what="topic", why=why)
    check_text(topic, what="topic")
    if not (words_of(topic) or find_identifiers(topic)):
        why = "is empty" if is_blank(topic) else "has no word in it"
        raise InvalidInputError(what="topic", why=f"{why}; say what to forget")
    quoted = _QUOTED.fullmatch(topic)
    if quoted is not None:
        return (_name_of(next(filter(None, quoted.groups()))),)
    names = map(_name_of, _alternatives(topic))
    return tuple({tuple(name.terms): name for name in names}.values())


def covers(names: Sequence[TopicName], others: Sequence[TopicName]) -> bool:
    """Whether all that speaks of another topic speaks of this one."""
    return all(any(name.covers(other) for name in names) for other in others)


def content_name(name: TopicName, stems: Mapping[str, Sequence[str]]) -> TopicName:
    """A name without the words that say nothing in its language.

    Args:
        name: The name.
        stems: The stems of each of its words, one a language; empty where a word says nothing.

    Raises:
        InvalidInputError: nothing is left.
    """
    languages = range(max(map(len, stems.values()), default=0))
    votes = [
        LanguageVote(
            [place for place, stem in enumerate(stems[word]) if stem], is_known=any(stems[word])
        )
        for word in name.words
    ]
    says = content_words(votes, languages)
    left = tuple(word for word, tells in zip(name.words, says, strict=True) if tells)
    return _checked(replace(name, words=left), name.words)


def _name_of(text: str) -> TopicName:
    identifiers = find_identifiers(text)
    plain = _POSSESSIVE.sub("", _masked(text, identifiers).replace(_MASK, " "))
    plain = join_initials(plain)
    words = tuple(dict.fromkeys(words_of(plain)))
    proper = frozenset().union(*map(words_of_name, proper_names(plain)))
    telling = [word for word in words if word in proper or word not in stop_words()]
    if identifiers:
        telling = [word for word in telling if not is_identifier_noun(word)]
    name = TopicName(
        text=text.strip(),
        words=tuple(telling),
        identifiers=identifiers,
        initials=initials_of(plain).intersection(telling),
        proper=proper.intersection(telling),
    )
    return _checked(name, words)


def _checked(name: TopicName, words: Sequence[str]) -> TopicName:
    if not (name.words or name.identifiers):
        why = f"has only words that stand in any text ({' '.join(words[:5])}); name what to forget"
        raise InvalidInputError(what="topic", why=why)
    return name


def _alternatives(topic: str) -> Iterator[str]:
    """The parts of a topic that are names of it, without words of a command."""
    masked = _masked(topic, find_identifiers(topic))
    place = 0
    for match in _separators().finditer(masked, _opening(masked)):
        yield from _without_command(topic[place : match.start()])
        place = match.end()
    yield from _without_command(topic[place:])


def _without_command(text: str) -> Iterator[str]:
    """A part of a topic without words of a command, if there is anything else in it."""
    masked = _masked(text, find_identifiers(text))
    start, end = _opening(masked), len(text)
    ends = frozenset().union(*(language.ends for language in _phrases().values()))
    for match in reversed(list(_WORD.finditer(masked, start)) if start else ()):
        if normalised(match[0]) not in ends:
            break
        end = match.start()
    if words_of(text[start:end]):
        yield text[start:end]


def _masked(text: str, identifiers: Sequence[Identifier]) -> str:
    for one in identifiers:
        text = text[: one.start] + _MASK * (one.end - one.start) + text[one.end :]
    return text


def _opening(text: str) -> int:
    """Where the topic begins, behind words of a command such as `everything you know about`."""
    words = [(normalised(match[0]), match.end()) for match in _WORD.finditer(text)]
    found = (_opening_in(words, language) for language in _phrases().values())
    place = max(found, default=0)
    left = words_of(text[place:].replace(_MASK, "x1"))
    return place if any(word not in stop_words() for word in left) else 0


def _opening_in(words: Sequence[tuple[str, int]], language: "_Phrases") -> int:
    start = 0
    while start < len(words) and words[start][0] in language.verbs:
        start += 1
    if start == len(words) or words[start][0] not in language.all | language.nouns:
        return 0
    about = language.about if words[start][0] in language.all else language.about_only
    end = 0
    for word, place in words[start + 1 :]:
        if word in about:
            end = place
        if word in language.about_only or word not in language.between | about:
            break
    return end


class _Phrases(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    verbs: frozenset[str]
    all: frozenset[str]
    between: frozenset[str]
    nouns: frozenset[str]
    about: frozenset[str]
    about_only: frozenset[str]
    either: tuple[str, ...]
    ends: frozenset[str] = frozenset()


@cache
def _phrases() -> dict[str, _Phrases]:
    folded = normalised(_FILE.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, _Phrases]).validate_python(parse_yaml(folded))


@cache
def _separators() -> re.Pattern[str]:
    """What stands between two names: a slash with spaces, or before a capitalised word, or a word such as `or`."""
    words = "|".join(word for language in _phrases().values() for word in language.either)
    slash = r"\s+/\s+|(?<=[^\W\d_A-Z])/(?=[^\W\d_a-z][^\W\d_A-Z])"  # neither AC/DC nor input/output
    return re.compile(rf"{slash}|\s+(?i:{words})\s+")
