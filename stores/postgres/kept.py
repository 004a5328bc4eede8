"""What a process keeps of what it read: rows of entries, their places and vectors, and answers.

Every search reads first how often the agent's knowledge has changed. What was read at that count is true at
it, so nothing that is kept can be stale, whoever wrote meanwhile. Of this process's own writes it is known which
entries they changed, and the others stay; once another process has written, all that is kept of the agent is dropped.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from itertools import count

from mnestic.memory.caches import CacheCount, CacheCounts
from mnestic.memory.retrieval import Retrieval
from mnestic.stores.postgres.candidates import EntryLine, patterns_of
from mnestic.stores.postgres.kept_answers import KeptAnswers
from mnestic.stores.postgres.kept_claims import KeptClaims
from mnestic.stores.postgres.kept_entries import KeptEntries
from mnestic.stores.postgres.kept_known import KeptKnown, Told
from mnestic.stores.postgres.kept_places import KeptPlaces, Place, Tied
from mnestic.stores.postgres.kept_state import State
from mnestic.stores.postgres.kept_vectors import PIECE, KeptVectors
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.recent import Recent
from mnestic.stores.postgres.unit import Change, Owner

_MOST_AGENTS = 100_000  # whose counts are kept
_MOST_BEFORE = 1000  # questions until the vectors of an agent are read again
# Lines that questions have had to read, and their share of all, from where all are read: that takes no more than a few
# times what has been spent so far.
_FEWEST_MISSED, _MISSED = 100, 0.25
_MOST_TIMES = 10
_LINE_BYTES = 3300  # about what a line takes, of some 120 characters
# Parts of all bytes, in which about as many entries have their vectors and places as their rows, which have the rest.
_PARTS = (10, 5, 5)  # for answers, vectors and places
_BESIDE = 50  # likewise, for what was told of names and words, and for entries; beside them


class Kept:
    """What one process keeps, up to so many bytes of rows, of places, of vectors and of answers."""

    def __init__(self, *, max_bytes: int, piece: int = PIECE) -> None:
        """Prepares it.

        Args:
            max_bytes: A fifth for vectors, a fifth for places, a tenth for answers, the rest for rows, and twice a fiftieth beside.
            piece: How many vectors are read at once.
        """
        self.piece = piece
        answers, vectors, places = (max_bytes // part for part in _PARTS)
        self.answers = KeptAnswers(answers)
        self._vectors: Recent[int, str, KeptVectors] = Recent(vectors, largest=1.0)
        self.entries = KeptEntries(max_bytes // _BESIDE)
        self._lines: Recent[int, int, EntryLine] = Recent(max_bytes - answers - vectors - places)
        self._places: Recent[int, None, KeptPlaces] = Recent(places, largest=1.0)
        self._known = KeptKnown(max_bytes // _BESIDE)
        self._states: OrderedDict[Owner, State] = OrderedDict()
        self._generations = count()
        self._entry_hits = self._entry_misses = 0
        self._vector_hits = self._vector_misses = 0

    def read_at(self, owner: Owner, knowledge: int) -> Reading:
        """What is kept of an agent and true at a count of changes, as it was just read; all else of it is dropped."""
        state = self._states.get(owner)
        if state is not None and state.knowledge > knowledge and state.was_just_heard:
            return self.reading(owner, knowledge)  # it was counted before the change
        if state is None or state.knowledge != knowledge:  # less: the database is an older one
            self._drop(owner)
            state = self._states[owner] = State(next(self._generations), knowledge)
            if len(self._states) > _MOST_AGENTS:
                self._drop(next(iter(self._states)))
        self._states.move_to_end(owner)
        return Reading(self, owner, knowledge, state.generation)

    def reading(self, owner: Owner, knowledge: int) -> Reading:
        """What is kept of an agent, if it is true at a count of changes; else nothing, and nothing is kept."""
        state = self._states.get(owner)
        is_true = state is not None and state.knowledge == knowledge
        generation = state.generation if state and is_true else next(self._generations)
        return Reading(self, owner, knowledge, generation)

    def at_hand(self, owner: Owner) -> Reading | None:
        """What is kept of an agent at the count of changes that it was true at last."""
        if state := self._states.get(owner):
            return Reading(self, owner, state.knowledge, state.generation)
        return None

    def lines(self, generation: int, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """See `Reading.lines`."""
        asked = tuple(numbers)
        found = self._lines.get_all(generation, asked)
        self._entry_hits += len(found)
        self._entry_misses += len(asked) - len(found)
        return found

    def held(self, generation: int, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """See `Reading.held`."""
        return self._lines.get_all(generation, numbers)

    def may_read_ahead(self, reading: Reading, entries: int) -> bool:
        """See `Reading.may_read_ahead`."""
        state = self._states.get(reading.owner)
        if state is None or state.generation != reading.generation:
            return False
        # Who makes place for others again and again is not read again each time.
        if state.missed < max(_FEWEST_MISSED, _MISSED * entries) * 2**state.times:
            return False
        lacking = entries - self._lines.number(reading.generation)
        if lacking * _LINE_BYTES > self._lines.place:
            return False
        state.missed, state.times = 0, min(state.times + 1, _MOST_TIMES)
        return True

    def keep(self, reading: Reading, lines: Iterable[EntryLine]) -> None:
        """See `Reading.keep`."""
        if not self.is_current(reading):
            return  # these rows may be from before the change that was heard of
        for line in lines:
            if line.is_small and not self._lines.has(reading.generation, line.number):
                self._lines.put(reading.generation, line.number, line, size=line.bytes)
                self._states[reading.owner].missed += 1

    def keep_ahead(self, reading: Reading, lines: Sequence[EntryLine]) -> bool:
        """See `Reading.keep_ahead`."""
        generation = reading.generation
        small = [line for line in lines if line.is_small]
        more = sum(line.bytes - self._lines.size(generation, line.number) for line in small)
        if not self.is_current(reading) or more > self._lines.place:
            return False
        for line in small:
            self._lines.put(generation, line.number, line, size=line.bytes)
        return True

    def accessed(self, owner: Owner, accesses: Mapping[int, tuple[int, datetime]]) -> None:
        """Notes how often entries have been told, and when last."""
        if (state := self._states.get(owner)) is not None:
            for number, line in self.held(state.generation, accesses).items():
                line.accesses = accesses[number]

    def told(self, owner: Owner, names: AbstractSet[str], words: AbstractSet[str]) -> Told:
        """What Postgres would tell of some names and words at the count of changes that it is kept at."""
        state, places = self._whole_places(owner)
        may_name = places.has_name if places is not None and places.knows_all else None
        return self._known.told(state, names, words, may_name=may_name)

    def names(self, generation: int, names: AbstractSet[str]) -> frozenset[str]:
        """See `Reading.names`."""
        return self._known.names(generation, names)

    def keep_told(self, reading: Reading, told: Told) -> None:
        """See `Reading.keep_told`."""
        places = self.places(reading.generation)
        if places is not None and places.knows_all and self.is_current(reading):
            self._known.keep(reading.generation, told)

    def places(self, generation: int) -> KeptPlaces | None:
        """Where the entries of an agent are, as far as that is kept."""
        return self._places.get(generation, None)

    def begin_places(self, reading: Reading) -> None:
        """See `Reading.begin_places`."""
        if self.is_current(reading) and self.places(reading.generation) is None:
            self._keep_places(reading, KeptPlaces())

    def place(self, reading: Reading, found: Iterable[Place], *, is_last: bool) -> None:
        """See `Reading.place`."""
        if (places := self._current_places(reading)) is not None:
            for place in found:
                places.place(place)
            places.is_whole |= is_last
            self._keep_places(reading, places)

    def tell_sessions(self, reading: Reading) -> Iterator[None]:
        """See `Reading.tell_sessions`."""
        places = self.places(reading.generation)
        if places is not None and places.is_whole:
            yield from places.tell_all(partial(self._lines.get_all, reading.generation))

    def end_places(self, reading: Reading) -> None:
        """See `Reading.end_places`."""
        places = self.places(reading.generation)
        if places is not None and not places.is_whole:
            self._places.drop_all(reading.generation)

    def unseen(self, owner: Owner) -> frozenset[int]:
        """See `Reading.unseen`."""
        state = self._states.get(owner)
        places = None if state is None else self.places(state.generation)
        return frozenset(places.unseen) if places is not None and places.is_whole else frozenset()

    def see(self, reading: Reading, numbers: Iterable[int], found: Iterable[Place]) -> None:
        """See `Reading.see`."""
        if (places := self._current_places(reading)) is not None:
            for place in found:
                places.place(place)
            places.unseen.difference_update(numbers)
            self._keep_places(reading, places)

    def knows_all(self, owner: Owner) -> bool:
        """Whether all of what an agent's questions are answered with is kept, unless something has changed unheard."""
        return (places := self._whole_places(owner)[1]) is not None and places.knows_all

    def ask(self, owner: Owner) -> bool:
        """Notes that a question is asked; returns what `lacks_some` does."""
        if (state := self._states.get(owner)) is not None:
            state.claims.without += 1
            state.words.without += 1
        return self.lacks_some(owner)

    def lacks_some(self, owner: Owner) -> bool:
        """Whether it is worth reading what was claimed, or all words."""
        return self.lacks_claims(owner) or self.lacks_words(owner)

    def lacks_claims(self, owner: Owner) -> bool:
        """Whether it is known where all entries of an agent are, but not what was claimed there, and that is worth reading."""
        state, places = self._whole_places(owner)
        return places is not None and places.claims is None and state.claims.is_due

    def lacks_words(self, owner: Owner) -> bool:
        """Whether it is known where all entries of an agent are, but not which words they have, and that is worth reading."""
        state, places = self._whole_places(owner)
        return places is not None and places.words is None and state.words.is_due

    def begin_claims(self, owner: Owner) -> bool:
        """Whether what was claimed is to be read, which begins now."""
        if is_due := self.lacks_claims(owner):
            self._states[owner].claims.begin()
        return is_due

    def begin_words(self, owner: Owner) -> bool:
        """Whether names and words are to be read, which begins now."""
        if is_due := self.lacks_words(owner):
            self._states[owner].words.begin()
        return is_due

    def keep_claims(self, reading: Reading, claims: KeptClaims) -> None:
        """See `Reading.keep_claims`."""
        if (places := self._current_places(reading)) is not None:
            state = self._states[reading.owner]
            places.claims = claims
            if places.bytes > self._places.largest and places.words is not None:
                places.words, state.words.is_too_large = None, True  # claims are asked for by all
            if places.bytes > self._places.largest:
                places.claims, state.claims.is_too_large = None, True
            self._keep_places(reading, places)

    def keep_words(self, reading: Reading, words: KeptWords) -> None:
        """See `Reading.keep_words`."""
        if (places := self._current_places(reading)) is not None:
            places.words = words
            if places.bytes > self._places.largest:
                places.words, self._states[reading.owner].words.is_too_large = None, True
            self._keep_places(reading, places)

    def _current_places(self, reading: Reading) -> KeptPlaces | None:
        """Those of an agent, if they may be written to."""
        return self.places(reading.generation) if self.is_current(reading) else None

    def _whole_places(self, owner: Owner) -> tuple[State, KeptPlaces | None]:
        """Those of an agent, if all are known."""
        if (state := self._states.get(owner)) is None:
            return State(0, 0), None
        places = self.places(state.generation)
        return state, places if places is not None and places.is_whole else None

    def _keep_places(self, reading: Reading, places: KeptPlaces) -> None:
        """Keeps them by the memory that they take now; those that are too large are not begun again."""
        self._places.put(reading.generation, None, places, size=places.bytes)
        if places.bytes > self._places.largest:
            self._states[reading.owner].are_places_too_large = True

    def apart(
        self, generation: int, numbers: Iterable[int], names: frozenset[str]
    ) -> dict[int, bool]:
        """See `Reading.apart`."""
        places = self.places(generation)
        if places is None or not names:
            return {}
        lines = partial(self._lines.get_all, generation)
        return places.apart(numbers, names, patterns=patterns_of(names), lines=lines)

    def ties(self, reading: Reading, numbers: Sequence[int]) -> dict[int, Tied]:
        """See `Reading.ties`."""
        places = self.places(reading.generation)
        if places is not None:
            return places.ties(numbers)
        state = self._states.get(reading.owner)
        if state is not None and not state.are_places_too_large:
            state.missed += len(numbers)
        return {}

    def is_current(self, reading: Reading) -> bool:
        """See `Reading.is_current`."""
        return self._states.get(reading.owner) == State(reading.generation, reading.knowledge)

    def vectors(self, generation: int, model: str) -> KeptVectors | None:
        """See `Reading.vectors`."""
        return self._vectors.get(generation, model)

    def count_search(self, *, found: bool) -> None:
        """See `Reading.count_search`."""
        self._vector_hits += found
        self._vector_misses += not found

    def may_keep_vectors(self, reading: Reading, size: int) -> bool:
        """See `Reading.may_keep_vectors`."""
        state = self._states.get(reading.owner)
        if state is None or state.generation != reading.generation:
            return False
        state.asked += 1
        if state.asked <= state.before or size > self._vectors.largest:
            return False
        # Who makes place for others again and again is not read again each time.
        state.asked, state.before = 0, min(2 * state.before, _MOST_BEFORE)
        return True

    def keep_vectors(self, reading: Reading, model: str, vectors: KeptVectors) -> None:
        """See `Reading.keep_vectors`."""
        if self.is_current(reading):
            self._vectors.put(reading.generation, model, vectors, size=vectors.bytes)

    def changed(self, change: Change) -> None:
        """Notes a change that this process has committed."""
        owner, numbers = change.owner, change.numbers
        state = self._states.get(owner)
        if state is None or change.knowledge <= state.knowledge:
            return
        if numbers is None or change.knowledge != state.knowledge + 1:
            self._drop(owner)
            return
        state.hear(change.knowledge)
        self.answers.drop_all(owner)
        self._known.drop(state.generation)
        for number in numbers:
            self._lines.drop(state.generation, number)
        self.entries.drop(state.generation, numbers)
        self._change_places(state, change)
        held = self._vectors.values(state.generation)
        for vectors in held:
            vectors.drop((*numbers, *(change.added or ())))
        if change.added is None or any(vectors.lacks_most for vectors in held):
            self._vectors.drop_all(state.generation)

    def _change_places(self, state: State, change: Change) -> None:
        if (places := self.places(state.generation)) is None:
            return
        places.change(change.numbers or (), change.added or ())
        if change.is_of_facts and places.claims is not None:
            places.claims = None
            state.claims.change()
        if (change.numbers or change.added) and places.words is not None:
            places.words = None
            state.words.change()
        if change.added is None or places.lacks_most:
            self._places.drop_all(state.generation)

    def keep_answer(
        self, owner: Owner, question: str, told: Retrieval, *, knowledge: int, until: float
    ) -> None:
        """Keeps what was told for a question, read after a count of changes, for so long."""
        state = self._states.get(owner)
        if state is None or state.knowledge == knowledge:
            self.answers.put(owner, question, told, knowledge=knowledge, until=until)

    def _drop(self, owner: Owner) -> None:
        state = self._states.pop(owner, None)
        if state is not None:
            self._lines.drop_all(state.generation)
            self.entries.drop_all(state.generation)
            self._vectors.drop_all(state.generation)
            self._places.drop_all(state.generation)
            self._known.drop(state.generation)
        self.answers.drop_all(owner)

    def counts(self) -> CacheCounts:
        """What is held, and how often that was of use."""
        lines, vectors = self._lines, self._vectors
        of_lines = {"held": len(lines), "bytes": lines.bytes + self.entries.bytes}
        of_vectors = {"held": sum(map(len, vectors)), "bytes": vectors.bytes}
        return CacheCounts(
            entries=CacheCount(hits=self._entry_hits, misses=self._entry_misses, **of_lines),
            vectors=CacheCount(hits=self._vector_hits, misses=self._vector_misses, **of_vectors),
            words=self._known.counts(self._places),
            answers=self.answers.counts(),
        )
