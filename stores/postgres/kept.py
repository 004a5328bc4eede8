"""What a process keeps of what it read: rows of entries, and answers to questions.

Every search reads first how often the agent's knowledge has changed. What was read at that count is true at
it, so nothing that is kept can be stale, whoever wrote meanwhile. Notifications only tell which entries
changed, so that the others stay; where one is late or lost, all that is kept of the agent is dropped.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from mnestic.memory.caches import CacheCount, CacheCounts
from mnestic.memory.retrieval import Retrieval
from mnestic.stores.postgres.candidates import EntryLine

Owner = tuple[str, str]  # tenant and agent
Group = TypeVar("Group")
Key = TypeVar("Key")
Value = TypeVar("Value")
_MOST_AGENTS = 100_000  # whose counts are kept
_ANSWER_BYTES, _TOLD_BYTES = (
    2000,
    5000,
)  # of an answer, and of each entry that it tells, beside its content
_LARGEST = 0.1  # share of all that one value may take


class _Recent(Generic[Group, Key, Value]):
    """Values in groups, up to a number of bytes in all.

    Of the group that was asked for longest ago those that were used longest ago make place.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self.bytes = max_bytes, 0
        self._groups: OrderedDict[Group, OrderedDict[Key, tuple[Value, int]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return not self._groups

    def get(self, group: Group, key: Key) -> Value | None:
        return self.get_all(group, (key,)).get(key)

    def get_all(self, group: Group, keys: Iterable[Key]) -> dict[Key, Value]:
        found: dict[Key, Value] = {}
        if (values := self._groups.get(group)) is None:
            return found
        self._groups.move_to_end(group)
        for key in keys:
            if (held := values.get(key)) is not None:
                values.move_to_end(key)
                found[key] = held[0]
        return found

    def put(self, group: Group, key: Key, value: Value, *, size: int) -> None:
        self.drop(group, key)
        if size > _LARGEST * self._max_bytes:
            return
        self._groups.setdefault(group, OrderedDict())[key] = (value, size)
        self._groups.move_to_end(group)
        self.bytes += size
        while self.bytes > self._max_bytes:
            oldest = next(iter(self._groups))
            self.drop(oldest, next(iter(self._groups[oldest])))

    def drop(self, group: Group, key: Key) -> None:
        values = self._groups.get(group)
        if values is None or key not in values:
            return
        self.bytes -= values.pop(key)[1]
        if not values:
            del self._groups[group]

    def drop_all(self, group: Group) -> None:
        if (values := self._groups.pop(group, None)) is not None:
            self.bytes -= sum(size for _, size in values.values())


@dataclass(slots=True)
class _State:
    """Of an agent: under what its lines are kept, and the count of changes that they are true at."""

    generation: int
    knowledge: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, the count of changes that it is true at, and until when it is (seconds since 1970)."""

    knowledge: int
    until: float
    told: Retrieval


@dataclass(frozen=True, slots=True)
class Reading:
    """One search's right to what is kept: of an agent, at a count of changes."""

    kept: "Kept"
    owner: Owner
    knowledge: int
    generation: int

    def lines(self, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """The rows of entries, of those that are kept."""
        return self.kept.lines(self.generation, numbers)

    def keep(self, lines: Iterable[EntryLine]) -> None:
        """Keeps rows that were read after the count, unless it is another by now."""
        self.kept.keep(self, lines)


class Kept:
    """What one process keeps, up to so many bytes of rows and of answers."""

    def __init__(self, *, max_bytes: int) -> None:
        """Prepares it.

        Args:
            max_bytes: Three quarters for rows, the rest for answers; 0 keeps nothing.
        """
        self._answers: _Recent[Owner, str, _Answer] = _Recent(max_bytes // 4)
        self._lines: _Recent[int, int, EntryLine] = _Recent(max_bytes - max_bytes // 4)
        self._states: OrderedDict[Owner, _State] = OrderedDict()
        self._generations = count()
        self._entry_hits = self._entry_misses = self._answer_hits = self._answer_misses = 0

    @property
    def is_of_use(self) -> bool:
        """Whether something is kept that a change could make untrue."""
        return not self._lines.is_empty

    def read_at(self, owner: Owner, knowledge: int) -> Reading:
        """What is kept of an agent and true at a count of changes; all else of it is dropped."""
        state = self._states.get(owner)
        if state is None or state.knowledge != knowledge:  # less: the database is an older one
            self._drop(owner)
            state = self._states[owner] = _State(next(self._generations), knowledge)
            if len(self._states) > _MOST_AGENTS:
                self._drop(next(iter(self._states)))
        self._states.move_to_end(owner)
        return Reading(self, owner, knowledge, state.generation)

    def lines(self, generation: int, numbers: Iterable[int]) -> dict[int, EntryLine]:
        """See `Reading.lines`."""
        asked = tuple(numbers)
        found = self._lines.get_all(generation, asked)
        self._entry_hits += len(found)
        self._entry_misses += len(asked) - len(found)
        return found

    def keep(self, reading: Reading, lines: Iterable[EntryLine]) -> None:
        """See `Reading.keep`."""
        state = self._states.get(reading.owner)
        if state != _State(reading.generation, reading.knowledge):
            return  # a change was heard of since; these rows may be from before it
        for line in lines:
            if line.is_small:
                self._lines.put(reading.generation, line.number, line, size=line.bytes)

    def changed(self, owner: Owner, knowledge: int, numbers: Iterable[int] | None) -> None:
        """Hears of a change: its count, and which entries are others now; None: any may be."""
        state = self._states.get(owner)
        if state is None or knowledge <= state.knowledge:
            return
        if numbers is None or knowledge != state.knowledge + 1:
            self._drop(owner)
            return
        state.knowledge = knowledge
        self._answers.drop_all(owner)
        for number in numbers:
            self._lines.drop(state.generation, number)

    def has_answer(self, owner: Owner, question: str) -> bool:
        """Whether an answer is kept, be it true or not."""
        found = self._answers.get(owner, question) is not None
        self._answer_misses += not found
        return found

    def answer(
        self, owner: Owner, question: str, *, knowledge: int, now: float
    ) -> Retrieval | None:
        """What was told for a question, if it is true at a count of changes and a time."""
        kept = self._answers.get(owner, question)
        if kept is not None and kept.knowledge == knowledge and now < kept.until:
            self._answer_hits += 1
            return _copied(kept.told)
        self._answer_misses += 1
        self._answers.drop(owner, question)
        return None

    def keep_answer(
        self, owner: Owner, question: str, told: Retrieval, *, knowledge: int, until: float
    ) -> None:
        """Keeps what was told for a question, read after a count of changes, for so long."""
        state = self._states.get(owner)
        if state is not None and state.knowledge != knowledge:
            return
        size = _ANSWER_BYTES + 2 * len(question)
        size += sum(_TOLD_BYTES + 2 * len(one.entry.content) for one in told.found)
        self._answers.put(owner, question, _Answer(knowledge, until, _copied(told)), size=size)

    def _drop(self, owner: Owner) -> None:
        state = self._states.pop(owner, None)
        if state is not None:
            self._lines.drop_all(state.generation)
        self._answers.drop_all(owner)

    def counts(self) -> CacheCounts:
        """What is held, and how often that was of use."""
        lines, answers = self._lines, self._answers
        return CacheCounts(
            entries=CacheCount(
                hits=self._entry_hits,
                misses=self._entry_misses,
                held=len(lines),
                bytes=lines.bytes,
            ),
            answers=CacheCount(
                hits=self._answer_hits,
                misses=self._answer_misses,
                held=len(answers),
                bytes=answers.bytes,
            ),
        )


def _copied(told: Retrieval) -> Retrieval:
    """An answer whose parts nobody else can change."""
    found = (one.model_copy(update={"signals": dict(one.signals)}) for one in told.found)
    parts = {name: dict(getattr(told, name)) for name in ("words", "misspelt", "skipped")}
    return told.model_copy(update={"found": tuple(found), **parts})
