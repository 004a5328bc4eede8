"""Answers to questions that a process keeps, each true at a count of changes and for some time.

They stand apart from what searches read: who is asked the same again needs no search.
"""

from dataclasses import dataclass

from mnestic.memory.caches import CacheCount
from mnestic.memory.retrieval import Retrieval
from mnestic.stores.postgres.recent import Recent
from mnestic.stores.postgres.unit import Owner

# Of an answer, and of each entry that it tells, beside its content.
_ANSWER_BYTES, _TOLD_BYTES = 2000, 5000


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, the count of changes that it is true at, and until when it is (seconds since 1970)."""

    knowledge: int
    until: float
    told: Retrieval


class KeptAnswers:
    """Answers by agent and question, up to so many bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._answers: Recent[Owner, str, _Answer] = Recent(max_bytes)
        self._hits = self._misses = 0

    def has(self, owner: Owner, question: str) -> bool:
        """Whether an answer is kept, be it true or not."""
        found = self._answers.get(owner, question) is not None
        self._misses += not found
        return found

    def get(self, owner: Owner, question: str, *, knowledge: int, now: float) -> Retrieval | None:
        """What was told, if it is true at a count of changes and a time."""
        kept = self._answers.get(owner, question)
        if kept is not None and kept.knowledge == knowledge and now < kept.until:
            self._hits += 1
            return _copied(kept.told)
        self._misses += 1
        self._answers.drop(owner, question)
        return None

    def put(
        self,
        owner: Owner,
        question: str,
        told: Retrieval,
        *,
        knowledge: int,
        until: float,
    ) -> None:
        """Keeps what was told at a count of changes, until a time."""
        size = _ANSWER_BYTES + 2 * len(question)
        size += sum(_TOLD_BYTES + 2 * len(one.entry.content) for one in told.found)
        self._answers.put(owner, question, _Answer(knowledge, until, _copied(told)), size=size)

    def drop_all(self, owner: Owner) -> None:
        """Forgets those of an agent."""
        self._answers.drop_all(owner)

    def counts(self) -> CacheCount:
        """What is held, and how often that was of use."""
        held = self._answers
        return CacheCount(hits=self._hits, misses=self._misses, held=len(held), bytes=held.bytes)


def _copied(told: Retrieval) -> Retrieval:
    """An answer whose parts nobody else can change."""
    found = (one.model_copy(update={"signals": dict(one.signals)}) for one in told.found)
    parts = {name: dict(getattr(told, name)) for name in ("words", "misspelt", "skipped")}
    return told.model_copy(update={"found": tuple(found), **parts})
