"""What sources of search are asked, and what they bring: words as they are stored, and entries by number."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AskedLexeme:
    """A word of a question as it is stored, or the words that it may stand for, and how telling it is."""

    lexemes: tuple[str, ...]
    weight: float
    is_known: bool


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A question in the words of an agent's memory. `misspelt` are those that were read as others."""

    asked: tuple[AskedLexeme, ...] = ()
    misspelt: Mapping[str, str] = field(default_factory=dict)
    average_length: float = 1.0

    @property
    def weights(self) -> tuple[float, ...]:
        """How telling each word is, in their order."""
        return tuple(one.weight for one in self.asked)


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that a source brought: its BM25 or its cosine, and a bit for each word that it has."""

    number: int
    score: float
    lexemes: int = 0


@dataclass(frozen=True, slots=True)
class FreshEntry:
    """An entry that has no vector yet."""

    number: int
    content: str


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name that is known, with all keys of whom it names; whether they have spoken themselves."""

    keys: frozenset[str]
    speaks: bool
