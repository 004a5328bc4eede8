"""Topics: what somebody wants forgotten, and which texts speak of it.

What is shown before, what is removed and what is looked for afterwards have to agree on what speaks of a topic.
"""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from mnestic.memory.forgetting.cuts import SentenceCut, cut_sentence
from mnestic.memory.forgetting.follow_ups import Passage
from mnestic.memory.forgetting.proper_names import (
    capitalised_words,
    join_initials,
    names_with_capitals_alone,
    without_other_names,
    words_in_order,
    words_of_their_own,
)
from mnestic.memory.forgetting.topic_names import TopicName
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.language.identifiers import (
    Identifier,
    find_all_identifiers,
    letters_and_digits,
)
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import is_unspaced, normalised, words_of

FORGOTTEN = "[forgotten]"
"""What stands where something was taken out of a text."""

_ALIKE_LETTERS = 3
_SEVERAL = 2  # words of a proper name, of which others may have one
_COPIED_WORDS = 3  # fewer are no copy, but what anybody might say


class NameSigns(NamedTuple):
    """What stands in each text that has a name of a topic: beginnings of words, without marks, and cores of identifiers."""

    beginnings: tuple[str, ...]
    cores: tuple[str, ...]

    def may_be_in(self, bare: str, joined: str) -> bool:
        """Whether a text may have the name; it is given without marks, and as letters and figures alone."""
        return all(beginning in bare for beginning in self.beginnings) and all(
            core in joined for core in self.cores
        )


class Topic:
    """A topic, and which texts speak of it: those that have all of one of its names, in whichever form.

    A form of a word is another word with the same stem. Stems come from the database's text search, so
    they are added (`learn`) for the words of a text that may be forms (`unlearned`), before it is checked. A form of an
    identifier is one with the same key.
    """

    def __init__(
        self,
        names: Sequence[TopicName],
        stems: Mapping[str, Sequence[str]],
        *,
        copied: Sequence[str] = (),
    ) -> None:
        """A topic of these names.

        Args:
            names: As `parse_topic` gives them.
            stems: The stems of each of their words, one a language.
            copied: Texts that speak of it without its names; a copy of one speaks of it too.
        """
        self.names = tuple(names)
        self._stems = {
            word: tuple(stems.get(word, ())) for name in self.names for word in name.words
        }
        self.signs = tuple(map(self._signs, self.names))
        """What stands in each text that has the name, one a name, however long the forms of its words are."""
        self._forms: dict[str, Sequence[str]] = {}
        self._quoted: dict[str, Sequence[Span]] = {}
        self._copied = frozenset(filter(None, map(_flat, copied)))
        self._long_copied = tuple(sorted(filter(_is_long, self._copied)))
        self._all_copied = "\0".join(self._long_copied)  # searched at once, since texts are many

    @property
    def is_copied(self) -> bool:
        """Whether there are texts that speak of it without its names."""
        return bool(self._copied)

    def unlearned(self, text: str) -> set[str]:
        """Words of a text that may be forms of the topic's."""
        folded = normalised(text)
        beginnings = tuple(
            beginning
            for name in self._candidates(text)
            for beginning in self._signs(name).beginnings
        )
        if not beginnings:
            return set()
        return {
            word
            for word in words_of(folded)
            if word not in self._forms and _bare(word).startswith(beginnings)
        }

    def learn(self, stems: Mapping[str, Sequence[str]]) -> None:
        """Takes in the stems of words."""
        self._forms.update(stems)

    def learn_claims(self, quoted: Mapping[str, Sequence[Span]]) -> None:
        """Takes in where in texts claims stand, by text."""
        self._quoted.update(quoted)

    def is_in(self, *texts: str) -> bool:
        """Whether texts together speak of it."""
        return bool(self.names_in("\n".join(texts))) or any(map(self._is_copy, texts))

    def names_in(self, text: str) -> tuple[TopicName, ...]:
        """The names of it that a text has."""
        names = self._candidates(text)
        if not names:
            return ()
        return tuple(name for name in names if self._has_whole(text, name))

    def is_like(self, text: str) -> bool:
        """Whether a text has a word that begins as one of the topic's does, and is another word.

        Models that know words by their parts take the meaning of the one for the other's.
        """
        folded = normalised(text)
        return any(
            _begins_alike(other, word) and not self._occurs(word, {other}, other)
            for other in set(words_of(folded))
            for word in self._stems
        )

    def has_word(self, text: str) -> bool:
        """Whether a text has any word or identifier of it."""
        return self._has_any(text, self.names)

    def strikes(self, text: str) -> bool:
        """Whether a text has a word of it, or is a copy of a text that speaks of it."""
        return self.has_word(text) or self._is_copy(text)

    def strike(self, text: str, *, always: bool = False) -> str:
        """The text without the sentences that have the topic's words, if it speaks of it.

        Args:
            text: Any text.
            always: Whether its words go also where the text has some of them alone.
        """
        if not (self.is_in(text) or (always and self.has_word(text))):
            return text
        left = self.cut(text).marked(FORGOTTEN)
        return FORGOTTEN if self.is_in(left) else left

    def cut(self, text: str) -> SentenceCut:
        """Which sentences go out of a text that speaks of it, or statements of them.

        Those that have a word of a name that the text has, unless it is one of another name there, and those after them that
        stand for it by a pronoun (*It starts …*). Of a name with an identifier, those that have that one. Of a text that
        speaks of it by what stands elsewhere, those that have any word of any name.
        """
        found = self.names_in(text)
        names = found or self.names
        exact = [replace(one, words=()) if one.identifiers else one for one in found] or names
        passage = Passage(lambda part: self._has_any(part, names))

        def goes(statement: str, is_joined: bool) -> bool:
            names_it = self._has_any(statement, exact) or self._is_copy(statement)
            return passage.goes(statement, names_it=names_it, is_joined=is_joined)

        gone: list[tuple[int, int]] = []
        place = 0
        for sentence in split_sentences(text) or (text,):
            start = text.index(sentence, place)
            place = start + len(sentence)
            cut = cut_sentence(sentence, goes, quoted=self._claims_in(text, start, place))
            is_whole = self._is_copy(sentence)
            gone += [(start, place)] if is_whole else ((start + a, start + b) for a, b in cut)
        return SentenceCut(text=text, gone=tuple(gone))

    def _claims_in(self, text: str, start: int, end: int) -> list[Span]:
        """Where in a sentence of a text claims stand."""
        return [
            Span(start=max(one.start - start, 0), end=one.end - start)
            for one in self._quoted.get(text, ())
            if one.start < end and start < one.end
        ]

    def _signs(self, name: TopicName) -> NameSigns:
        return NameSigns(
            beginnings=tuple(
                word[0] if word in name.initials else _beginning(word, self._stems[word])
                for word in name.words
            ),
            cores=tuple(one.core for one in name.identifiers),
        )

    def _candidates(self, text: str) -> tuple[TopicName, ...]:
        """The names that a text may have, by what is looked at first."""
        bare = _bare(normalised(text))
        joined = letters_and_digits(text) if any(signs.cores for signs in self.signs) else ""
        return tuple(
            name
            for name, signs in zip(self.names, self.signs, strict=True)
            if signs.may_be_in(bare, joined)
        )

    def _has_any(self, text: str, names: Sequence[TopicName]) -> bool:
        return any(any(self._has(self._terms(text, name), name)) for name in names)

    def _has_whole(self, text: str, name: TopicName) -> bool:
        """Whether a text has all of a name, and of its words not only those that are of other names there.

        A proper name of several words is there if each of them has a capital, or if they stand side by side.
        """
        own = self._terms(text, name)
        if len(name.proper) < _SEVERAL:
            return all(self._has(own, name))
        whole = all(self._has(_Terms.of(text, name), name))
        return whole and any(self._has(own, name)) and self._is_named(text, name)

    def _is_named(self, text: str, name: TopicName) -> bool:
        """Whether the words of a proper name stand in a text as a name does."""
        own = words_of_their_own(name.proper)
        if len(own) < _SEVERAL:
            return True
        capitals = capitalised_words(text) | capitalised_words(join_initials(text))
        if all(self._occurs(word, capitals, "") for word in own):
            return True
        return not names_with_capitals_alone(own) and self._has_row(words_in_order(text), own)

    def _has_row(self, words: Sequence[str], own: Collection[str]) -> bool:
        """Whether words have these side by side, in any order."""
        found = [frozenset(one for one in own if self._occurs(one, {word}, word)) for word in words]
        starts = range(len(words) - len(own) + 1)
        return any(
            len(frozenset().union(*found[start : start + len(own)])) == len(own) for start in starts
        )

    def _terms(self, text: str, name: TopicName) -> "_Terms":
        """What of a text may be of a name: of a proper name of several words, what is of no other name there."""
        is_proper = len(name.proper) >= _SEVERAL
        return _Terms.of(without_other_names(text, name.proper) if is_proper else text, name)

    def _has(self, terms: "_Terms", name: TopicName) -> Iterator[bool]:
        """Whether a text has each word and each identifier of a name."""
        for word in name.words:
            yield self._occurs(word, terms.words, terms.folded)
        for identifier in name.identifiers:
            yield any(map(identifier.is_same, terms.identifiers))

    def _occurs(self, word: str, words: Collection[str], folded: str) -> bool:
        if word in words or (is_unspaced(word) and word in folded):
            return True
        stems = self._stems[word]
        return any(
            stem == mine
            for other in words
            for stem, mine in zip(self._forms.get(other, ()), stems, strict=False)
            if mine
        )

    def _is_copy(self, text: str) -> bool:
        """Whether it has a whole copied text, or is a part of one that is long enough to identify it."""
        if not self._copied:
            return False
        flat = _flat(text)
        if flat in self._copied:
            return True
        if _is_long(flat) and flat in self._all_copied:
            return True
        fitting = (copied for copied in self._long_copied if len(copied) <= len(flat))
        return any(copied in flat for copied in fitting)


class _Terms(NamedTuple):
    """What a text is made of, as far as names are compared with it."""

    folded: str
    words: frozenset[str]
    identifiers: tuple[Identifier, ...]

    @classmethod
    def of(cls, text: str, name: TopicName) -> "_Terms":
        """Those that a name may be in."""
        folded = normalised(text)
        words = {*words_of(folded), *words_of(join_initials(text))}
        return cls(folded, frozenset(words), find_all_identifiers(text) if name.identifiers else ())


def _beginning(word: str, stems: tuple[str, ...]) -> str:
    """What a word and all that have one of its stems begin with: a stem may have another last letter."""
    bare = _bare(word)
    shared = [_shared(bare, _shorter(_bare(stem))) for stem in stems if stem]
    return min(shared, key=len, default=bare) or bare[:1]


def _begins_alike(other: str, word: str) -> bool:
    """Whether a word begins as another one; models know words of other scripts by a few letters."""
    return other.startswith(word) or (
        not word.isascii() and len(_shared(other, word)) >= _ALIKE_LETTERS
    )


def _shared(word: str, other: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    return "".join(char for char, _ in same)


def _shorter(stem: str) -> str:
    return stem[:-1] if len(stem) > 3 else stem  # noqa: PLR2004


def _bare(folded: str) -> str:
    """A text without the marks of its letters, which stems of some languages leave out."""
    if folded.isascii():
        return folded
    return "".join(
        char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char)
    )


def _is_long(flat: str) -> bool:
    return len(flat.split(maxsplit=_COPIED_WORDS - 1)) == _COPIED_WORDS


def _flat(text: str) -> str:
    return " ".join(normalised(text).split())
