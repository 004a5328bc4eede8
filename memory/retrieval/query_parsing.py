"""Query parsing: the words of a question, the names among them, and the period that it means.

The functions are pure and know English alone. Words of other languages pass through; the agent's text search
configuration normalises them.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.subjects import USER
from mnestic.memory.language.acronyms import Acronym, find_acronyms
from mnestic.memory.language.dates import Period
from mnestic.memory.language.function_words import (
    UNSPACED,
    content_spans,
    find_function_words,
    stop_words,
)
from mnestic.memory.language.identifiers import Identifier
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.language.query_words import frame_spans, query_lists
from mnestic.memory.language.terms import terms_of, words_of
from mnestic.memory.language.word_forms import other_forms
from mnestic.memory.retrieval.exact_terms import ExactTerms, find_exact_terms, find_kinds, spellings
from mnestic.memory.retrieval.query_periods import find_periods, written_days

_WORD = re.compile(r"[^\W_]+(?:[.'’@+&/-][^\W_]+)*[+#]*")  # noqa: RUF001
_ENDS = frozenset(".!?:;\n")  # of sentences
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)  # noqa: RUF001
_PARTS = re.compile(r"[.,;:!?\n]")  # what separates clauses
_ENGLISH = 1 / 3  # from this share of English function words on a question is in English
_LONGEST_NAME = 4  # words
_MOST_WORDS = 200


class QueryWord(NamedTuple):
    """A word of a question, and whether it may be a name by itself.

    `is_capital`: it has a capital within a sentence, and no article. `is_acronym`: it has several capitals. `is_topic`: the question is about it, as about *Nate* in
    "does Nate play". `is_owner`: it owns something, as in "Nate's turtles". `is_identifier`: it is a number, code or address. `acronym` is the normal form of
    an acronym that text search takes for no word.
    """

    text: str
    may_name: bool
    is_capital: bool = False
    is_acronym: bool = False
    is_topic: bool = False
    is_owner: bool = False
    is_identifier: bool = False
    acronym: str = ""


@dataclass(frozen=True)
class Terms:
    """What a clause of a query says and may name, before it is resolved against the agent's memory.

    Times are relative to `asked_at`. `words` excludes the words of the period, and those of a frame such as *take place*; `named_before` are words of the clauses
    before it that its pronouns may stand for. `period` is the time that it means; if it names no year, `earlier` has the same time in the
    years before. `is_question`: it is a question, not just words to search for. `asks_for_time`: it asks when. `asks_for_earlier`:
    it asks for what was so before, so that superseded entries answer it.
    `topics` are names of people that a question of one clause is about, each by its words, such as *Nate* in
    "what does Nate play" and "do you know what Nate plays". `proper_names` are all that it names with a capital. `exact_terms` are its identifiers and
    numbered names. `askers` are the keys of names that whoever asks may have, the likeliest first.
    """

    asked_at: datetime
    askers: tuple[str, ...] = ()
    words: tuple[QueryWord, ...] = ()
    named_before: tuple[QueryWord, ...] = ()
    period: Period | None = None
    earlier: tuple[Period, ...] = ()
    is_question: bool = False
    asks_for_time: bool = False
    asks_for_earlier: bool = False
    topics: tuple[tuple[str, ...], ...] = ()
    proper_names: tuple[tuple[str, ...], ...] = ()
    exact_terms: ExactTerms = field(default_factory=ExactTerms)

    @cached_property
    def texts(self) -> frozenset[str]:
        """Its words as they are written."""
        return frozenset(word.text for word in self.words)

    @cached_property
    def keys(self) -> frozenset[str]:
        """What may be names, normalised; whoever speaks as the user is always among them."""
        return self._named | {USER, *self.askers}

    @cached_property
    def _named(self) -> frozenset[str]:
        return possible_names(self.words) | possible_names(self.named_before)

    @cached_property
    def is_own(self) -> bool:
        """Whether whoever asks speaks of themselves, as in "where do I live"."""
        words = (word.text.casefold().replace("\u2019", "'") for word in self.words)
        return not query_lists().first_person.isdisjoint(words)

    @cached_property
    def name_parts(self) -> frozenset[str]:
        """What may be parts of full names, normalised."""
        return possible_name_parts(self.words) | possible_name_parts(self.named_before)

    @cached_property
    def tags(self) -> frozenset[str]:
        """What may be tags, normalised."""
        return self._named - {USER} | singulars(self.texts)

    @property
    def acronyms(self) -> dict[str, str]:
        """The normal forms of words that are acronyms."""
        return {word.text: word.acronym for word in self.words if word.acronym}

    @property
    def word_forms(self) -> frozenset[str]:
        """Its words with other forms of verbs, spellings of identifiers, and the days of its period."""
        forms = (other_forms(word.casefold()) for word in self.texts)
        written = (spellings(word.text) for word in self.words if word.is_identifier)
        return self.texts.union(written_days(self.period), *written, *forms)

    @property
    def periods(self) -> tuple[Period, ...]:
        """The times that it may mean, if there are several: the first of which there is an entry counts."""
        return (self.period, *self.earlier) if self.period and self.earlier else ()


class NameMatch(NamedTuple):
    """The names in a question, and its other words."""

    words: tuple[str, ...]
    names: tuple[str, ...]


def parse_words(text: str, *, asked_at: datetime) -> Terms:
    """Parses a question. Dates are relative to `asked_at`; a date that may be past or future is past."""
    lists = query_lists()
    text = unicodedata.normalize("NFKC", text)  # letters of other widths are the same letters
    text = lists.short_title.sub(r"\1", text)  # the dot of a title ends no sentence
    periods, spans = find_periods(text, asked_at=asked_at)
    indirect = lists.indirect.match(text)
    plain = _without(text, spans)
    exact_terms = find_exact_terms(plain)
    if not find_function_words(words_of(text)):  # in other languages any noun may have a capital
        exact_terms = replace(exact_terms, kinds=find_kinds(plain))
    subject_at = indirect.end() if indirect else 0
    spans = (*spans, *frame_spans(text))
    words = tuple(_words(text, spans, identifiers=exact_terms.identifiers, subject_at=subject_at))
    is_question = bool(lists.is_question.search(text))
    is_of_one_clause = (is_question or indirect) and _PARTS.search(text.rstrip("?!. \n")) is None
    return Terms(
        asked_at=asked_at,
        words=words,
        period=periods[0] if periods else None,
        earlier=periods[1:],
        is_question=is_question,
        asks_for_time=lists.asks_for_time.match(text) is not None,
        asks_for_earlier=lists.asks_for_earlier.search(text) is not None,
        topics=tuple(_proper_names(words, of_topics=True)) if is_of_one_clause else (),
        proper_names=tuple(_proper_names(words)) if is_question else (),
        exact_terms=exact_terms,
    )


def _proper_names(
    words: tuple[QueryWord, ...], *, of_topics: bool = False
) -> Iterator[tuple[str, ...]]:
    """The names with a capital, without titles; none if every word has one. `of_topics`: those the question is about."""
    if words[2:] and not any(word.text.islower() for word in words):
        return
    for is_name, group in groupby(words, key=_is_written_as_name):
        words_of_name = list(group)
        if is_name and (not of_topics or any(word.is_topic for word in words_of_name)):
            named = (word.text for word in words_of_name)
            if name := tuple(word for word in named if word.casefold() not in query_lists().titles):
                yield name


def _is_written_as_name(word: QueryWord) -> bool:
    return word.is_capital or word.is_acronym or word.is_identifier


def possible_names(words: tuple[QueryWord, ...]) -> frozenset[str]:
    """The keys of all sequences of words that may be names."""
    return frozenset(key for *_, key in _grams(words))


def possible_name_parts(words: tuple[QueryWord, ...]) -> frozenset[str]:
    """The keys of sequences that may be a part of somebody's full name: those that end with a capital."""
    return frozenset(
        key
        for _, end, key in _grams(words)
        if words[end - 1].text[:1].isupper() and not words[end - 1].is_identifier
    )


def without_names(words: tuple[QueryWord, ...], known: Collection[str]) -> NameMatch:
    """Separates known names from the other words, the longest names first; a word belongs to one name at most."""
    taken: dict[int, str] = {}
    for start, end, key in sorted(_grams(words), key=lambda gram: gram[0] - gram[1]):
        if key in known and not any(place in taken for place in range(start, end)):
            taken |= dict.fromkeys(range(start, end), key)
    left = tuple(
        word.text
        for place, word in enumerate(words)
        if place not in taken
        and not (place + 1 in taken and word.text.casefold() in query_lists().titles)
    )
    return NameMatch(words=left, names=tuple(dict.fromkeys(taken.values())))


def content_words(words: Collection[str]) -> tuple[str, ...]:
    """The words that carry the question's meaning, without words about the question itself."""
    lists = query_lists()
    telling = [word for word in words if word.casefold() not in lists.about_itself]
    return tuple(word for word in telling if word.casefold() not in lists.light) or tuple(telling)


def singulars(words: Collection[str]) -> frozenset[str]:
    """The words in the singular, as tags are."""
    return frozenset(parts[0] for word in words if len(parts := terms_of(word)) == 1)


def is_english(words: Collection[str]) -> bool:
    """Whether a question is in English, by its function words."""
    return sum(word.casefold() in stop_words() for word in words) > _ENGLISH * len(words)


def is_foreign(words: Collection[str], languages: Collection[str]) -> bool:
    """Whether a question is in a language that the embedder knows too little.

    Args:
        words: Those of the question.
        languages: Those of the agent's entries. Without English among them, whatever is not in English is foreign; with
            it, only a script that puts no space between words, of which an embedder of English knows single characters.
    """
    if is_english(words):
        return False
    return LANGUAGE not in languages or any(UNSPACED.search(word) for word in words)


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """A text with blanks for some spans."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _words(
    text: str,
    spans: tuple[tuple[int, int], ...],
    *,
    identifiers: tuple[Identifier, ...],
    subject_at: int,
) -> Iterator[QueryWord]:
    before, end, named = "", 0, list(identifiers)
    acronyms = find_acronyms(text)
    for number, match in enumerate(_WORD.finditer(text)):
        if number >= _MOST_WORDS:
            return
        if match.start() < end:  # a part of an identifier
            continue
        is_within, end = _ENDS.isdisjoint(text[end : match.start()]), match.end()
        if any(start < match.end() and match.start() < end for start, end in spans):
            before = match[0]
            continue
        while named and named[0].end <= match.start():
            named.pop(0)
        if named and named[0].start < match.end():
            identifier = named.pop(0)
            end = max(end, identifier.end)
            before = identifier.text
            yield QueryWord(identifier.text, may_name=True, is_identifier=True)
            continue
        if acronym := _acronym_at(match, acronyms):
            end = max(end, acronym.end)
            written = text[acronym.start : acronym.end]
            yield QueryWord(written, may_name=True, is_acronym=True, acronym=acronym.key)
        else:
            is_subject = match.start() == subject_at
            yield from _plain(match[0], before=before, is_within=is_within, is_subject=is_subject)
        before = match[0]


def _plain(written: str, *, before: str, is_within: bool, is_subject: bool) -> Iterator[QueryWord]:
    """A word that is no identifier and no acronym; of a run without spaces its content words."""
    if runs := UNSPACED.findall(written):
        segments = (run[start:end] for run in runs for start, end in content_spans(run))
        yield from (QueryWord(segment, may_name=True) for segment in segments)
    else:
        yield _word(written, before=before, is_within=is_within, is_subject=is_subject)


def _acronym_at(match: re.Match[str], acronyms: Sequence[Acronym]) -> Acronym | None:
    """The acronym that a word belongs to."""
    return next(
        (one for one in acronyms if one.start < match.end() and match.start() < one.end), None
    )


def _word(written: str, *, before: str, is_within: bool, is_subject: bool) -> QueryWord:
    word = _POSSESSIVE.sub("", written)
    is_telling = word.casefold() not in stop_words()
    is_large = word[:1].isupper() and before != ""
    is_bare = before.casefold() not in query_lists().articles
    is_capital = is_large and is_within and is_bare and not word.isupper()
    follows = (
        before.casefold() in query_lists().auxiliaries or _POSSESSIVE.search(before) is not None
    )
    return QueryWord(
        word,
        may_name=is_large or is_telling,
        is_capital=is_capital,
        is_acronym=word.isupper() and word[1:] != "",
        is_topic=is_capital and is_telling and (follows or is_subject or word != written),
        is_owner=word != written,
    )


def _grams(words: tuple[QueryWord, ...]) -> Iterator[tuple[int, int, str]]:
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST_NAME) + 1):
            gram = words[start:end]
            if gram[0].may_name and gram[-1].may_name:
                yield start, end, name_key(" ".join(word.text for word in gram))
