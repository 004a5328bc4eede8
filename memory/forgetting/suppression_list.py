"""The suppression list: what was forgotten and must not be learned again, as keyed hashes of its words.

Nobody has the words any more. What a text says is hashed word by word, and where all hashes of a name are among these,
the text's own words make the topic that is cut out of it.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.forgetting.proper_names import join_initials
from mnestic.memory.forgetting.topic_names import TopicName
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.language.identifiers import Identifier, find_all_identifiers
from mnestic.memory.language.terms import is_unspaced, normalised, words_of

_HASH_CHARS = 32  # 128 bits
_ID_CHARS = 12
Stems = Mapping[str, Sequence[str]]


class SuppressedTerm(DeferredModel):
    """A word or an identifier by the hashes of its forms; `chars` is how long a word is whose script has no spaces.

    `is_proper` says whether it is a word of a proper name of several, so that words of two other names are not that one.
    """

    model_config = ConfigDict(frozen=True)

    hashes: tuple[str, ...]
    chars: int | None = None
    is_proper: bool = False


class ExcludedNames(DeferredModel):
    """The names of a topic, each by its terms, and the id of the key that they are hashed with."""

    model_config = ConfigDict(frozen=True)

    key_id: str
    names: tuple[tuple[SuppressedTerm, ...], ...]


class SuppressionSecrets(Protocol):
    """Where the secret of all tenants' keys is."""

    def find(self) -> bytes | None:
        """The secret, if there is one.

        Raises:
            ConfigurationError: it is malformed or cannot be read.
        """
        ...

    def find_or_make(self) -> bytes:
        """The secret; a new one where there is none.

        Raises:
            ConfigurationError: it is malformed, or cannot be read or written.
        """
        ...


class SuppressionKey:
    """The key of one tenant."""

    def __init__(self, secret: bytes, *, tenant_id: str) -> None:
        self._key = hmac.digest(secret, f"mnestic keep-out\0{tenant_id}".encode(), "sha256")
        self.id = self.hash("key", "")[:_ID_CHARS]

    def hash(self, kind: str, text: str) -> str:
        """The keyed hash of a text of a kind, in hexadecimal."""
        return hmac.digest(self._key, f"{kind}\0{text}".encode(), "sha256").hex()[:_HASH_CHARS]


def excluded_names(
    names: Iterable[TopicName], *, stems: Stems, key: SuppressionKey
) -> ExcludedNames:
    """The names of a topic as a tombstone has them.

    Args:
        names: As `parse_topic` gives them.
        stems: The stems of each of their words, one a language.
        key: The tenant's.
    """
    return ExcludedNames(
        key_id=key.id,
        names=tuple(
            (
                *(
                    _suppressed_word(word, stems, key).model_copy(
                        update={"is_proper": word in name.proper}
                    )
                    for word in name.words
                ),
                *(_suppressed_identifier(one, key) for one in name.identifiers),
            )
            for name in names
        ),
    )


def kept_topic(
    text: str, kept: Sequence[ExcludedNames], *, stems: Stems, key: SuppressionKey
) -> Topic | None:
    """What of a text is kept out, as a topic of the text's own words; None if nothing is.

    Args:
        text: What is about to be learned from.
        kept: The names that are kept out, hashed with the key.
        stems: The stems of the text's words, one a language.
        key: The tenant's.
    """
    lengths = {term.chars for name in _all(kept) for term in name if term.chars}
    hashed = _HashedText(text, lengths=lengths, stems=stems, key=key)
    names = [hashed.name_of(name) for name in _all(kept)]
    found = [name for name in names if name is not None and Topic([name], {}).is_in(text)]
    return Topic(found, {}) if found else None


class _HashedText:
    """The words and identifiers of a text by their hashes."""

    def __init__(
        self, text: str, *, lengths: Iterable[int], stems: Stems, key: SuppressionKey
    ) -> None:
        self._words: dict[str, set[str]] = {}
        self._identifiers: dict[str, set[Identifier]] = {}
        folded = normalised(text)
        self._initials = frozenset(words_of(join_initials(text))).difference(words_of(folded))
        parts = {part for length in lengths for part in _parts(folded, length)}
        for word in {*words_of(folded), *self._initials, *parts}:
            for hashed in _word_hashes(word, stems, key):
                self._words.setdefault(hashed, set()).add(word)
        for one in find_all_identifiers(text):
            own = (key.hash(kind, one.key) for kind in ("is", "also"))
            for hashed in (*own, *(key.hash("is", form) for form in one.also)):
                self._identifiers.setdefault(hashed, set()).add(one)

    def name_of(self, name: Sequence[SuppressedTerm]) -> TopicName | None:
        """A name in the words that the text has for it; None if it has not all of them."""
        words: set[str] = set()
        proper: set[str] = set()
        identifiers: set[Identifier] = set()
        for term in name:
            said = {word for one in term.hashes for word in self._words.get(one, ())}
            same = {found for one in term.hashes for found in self._identifiers.get(one, ())}
            if not (said or same):
                return None
            words |= said
            proper |= said if term.is_proper else set()
            identifiers |= same
        return TopicName(
            text="",
            words=tuple(sorted(words)),
            identifiers=tuple(identifiers),
            initials=self._initials.intersection(words),
            proper=frozenset(proper),
        )


def _all(kept: Iterable[ExcludedNames]) -> Iterator[tuple[SuppressedTerm, ...]]:
    return (name for one in kept for name in one.names)


def _suppressed_word(word: str, stems: Stems, key: SuppressionKey) -> SuppressedTerm:
    chars = len(word) if is_unspaced(word) else None
    return SuppressedTerm(hashes=tuple(sorted(_word_hashes(word, stems, key))), chars=chars)


def _suppressed_identifier(one: Identifier, key: SuppressionKey) -> SuppressedTerm:
    return SuppressedTerm(
        hashes=(key.hash("is", one.key), *sorted(key.hash("also", form) for form in one.also))
    )


def _word_hashes(word: str, stems: Stems, key: SuppressionKey) -> set[str]:
    return {
        key.hash("word", word),
        *(key.hash("stem", stem) for stem in stems.get(word, ()) if stem),
    }


def _parts(folded: str, length: int) -> Iterator[str]:
    """The words of a length that may stand in scripts without spaces."""
    parts = (folded[start : start + length] for start in range(len(folded) - length + 1))
    return filter(is_unspaced, parts)
