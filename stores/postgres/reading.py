"""One search's right to what a process keeps of an agent.

It stands apart from what is kept, since it is all that who searches, or reads ahead, has to do with that.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnestic.memory.entries import Entry
from mnestic.memory.facts import Stretch
from mnestic.stores.postgres.candidates import EntryLine
from mnestic.stores.postgres.kept_claims import KeptClaims
from mnestic.stores.postgres.kept_known import Told
from mnestic.stores.postgres.kept_places import KeptPlaces, Place, Tied
from mnestic.stores.postgres.kept_vectors import KeptVectors, bytes_to_grow
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.unit import Owner

if TYPE_CHECKING:
    from mnestic.stores.postgres.kept import Kept


@dataclass(frozen=True, slots=True)
class Reading:
    """One search's right to what is kept: of an agent, at a count of changes."""

    kept: "Kept"
    owner: Owner
    knowledge: int
    generation: int

    def keep_told(self, told: Told) -> None:
        """Keeps what Postgres told of names and words, while the count is the same."""
        self.kept.keep_told(self, told)

    def names(self, names: AbstractSet[str]) -> frozenset[str]:
        """Those of some names, by key, of which Postgres has told that they are known."""
        return self.kept.names(self.generation, names)

    def lines(self, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """The rows of entries, of those that are kept."""
        return self.kept.lines(self.generation, numbers)

    def held(self, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """As `lines`, without counting hits and misses."""
        return self.kept.held(self.generation, numbers)

    def entries(self, lines: Mapping[int, EntryLine]) -> dict[int, Entry]:
        """The entries of rows by number, of which all is known; none that is kept where something has changed since."""
        if not self.is_current:
            return {number: line.entry() for number, line in lines.items()}
        return self.kept.entries.of(self.generation, lines)

    def keep(self, lines: Iterable[EntryLine]) -> None:
        """Keeps rows that a question read after the count, unless it is another by now."""
        self.kept.keep(self, lines)

    def keep_ahead(self, lines: Sequence[EntryLine]) -> bool:
        """Keeps rows that were read ahead of questions, if no others have to make place; returns whether they are kept."""
        return self.kept.keep_ahead(self, lines)

    def begin_places(self) -> None:
        """From now on changes of places are heard of; none is told until the last one is placed."""
        self.kept.begin_places(self)

    def place(self, places: Iterable[Place], *, is_last: bool) -> None:
        """Keeps where some entries are, unless they were too many or had to make place for others."""
        self.kept.place(self, places, is_last=is_last)

    def tell_sessions(self) -> Iterator[None]:
        """Puts together what all sessions say, one at each step, once it is known where all entries are."""
        return self.kept.tell_sessions(self)

    def end_places(self) -> None:
        """Forgets places that were begun, if they are not whole by now."""
        self.kept.end_places(self)

    @property
    def unseen(self) -> frozenset[int]:
        """Entries of which it is not known where they are, while it is known of the others."""
        return self.kept.unseen(self.owner)

    def see(self, numbers: Iterable[int], places: Iterable[Place]) -> None:
        """Keeps the places of entries that were looked for; the others are gone."""
        self.kept.see(self, numbers, places)

    def apart(self, numbers: Iterable[int], names: frozenset[str]) -> dict[int, bool]:
        """Of entries, whether nobody of the names was where they were said; of those of which that is known."""
        return self.kept.apart(self.generation, numbers, names)

    def ties(self, numbers: Sequence[int]) -> dict[int, Tied]:
        """What is tied to entries, and how; of those of which that is known."""
        return self.kept.ties(self, numbers)

    def keep_claims(self, claims: KeptClaims) -> None:
        """Keeps what was claimed in all messages."""
        self.kept.keep_claims(self, claims)

    @property
    def knows_claims(self) -> bool:
        """Whether it is known where all entries are, and what was claimed there."""
        return self.places is not None and self.places.knows_claims

    @property
    def knows_all(self) -> bool:
        """Likewise, and which names and words there are."""
        return self.places is not None and self.places.knows_all

    @property
    def places(self) -> KeptPlaces | None:
        """Where the entries are, as far as that is kept."""
        return self.kept.places(self.generation)

    @property
    def claims(self) -> KeptClaims | None:
        """What all messages claimed and what is believed, while that is kept."""
        return None if self.places is None else self.places.claims

    @property
    def words(self) -> KeptWords | None:
        """The names and words of all entries, while they are kept."""
        return None if self.places is None else self.places.words

    def keep_words(self, words: KeptWords) -> None:
        """Keeps the names and words of all entries."""
        self.kept.keep_words(self, words)

    def over(
        self,
        numbers: Iterable[int],
        respects: AbstractSet[str],
        *,
        held: Stretch | None = None,
        now: float,
    ) -> dict[int, bool]:
        """See `KeptPlaces.over`."""
        if (places := self.places) is None:
            return {}
        return places.over(numbers, respects, held=held, now=now)

    def of_others(
        self, numbers: Collection[int], names: Collection[str], predicates: Collection[str]
    ) -> set[int] | None:
        """See `KeptPlaces.of_others`."""
        return None if self.places is None else self.places.of_others(numbers, names, predicates)

    def may_read_ahead(self, entries: int) -> bool:
        """Whether questions have missed so many of the rows of all entries that it is worth reading all."""
        return self.kept.may_read_ahead(self, entries)

    @property
    def is_current(self) -> bool:
        """Whether no change has been heard of since."""
        return self.kept.is_current(self)

    def vectors(self, model: str) -> KeptVectors | None:
        """Those of the entries of a model, if they are kept."""
        return self.kept.vectors(self.generation, model)

    def count_search(self, *, found: bool) -> None:
        """Counts a search by meaning, and whether all vectors were found here."""
        self.kept.count_search(found=found)

    def may_keep_vectors(self, number: int, dimensions: int) -> bool:
        """Whether so many are worth keeping: they have a place, and the agent has been asked before."""
        return self.kept.may_keep_vectors(self, bytes_to_grow(number, dimensions))

    def new_vectors(self, number: int, dimensions: int) -> KeptVectors:
        """Place for so many, which are read piece by piece."""
        return KeptVectors(dimensions, places=number, piece=self.kept.piece)

    def keep_vectors(self, model: str, vectors: KeptVectors) -> None:
        """Keeps those of a model, while the count is the same."""
        self.kept.keep_vectors(self, model, vectors)
