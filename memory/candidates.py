"""Candidates: entries that sources brought for a question, and the question, as far as scores need both.

They stand apart from ranking, as stores make candidates, and ranking weighs them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from struct import Struct
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.dates import Period
from mnestic.memory.retrieval import Mode

Made = TypeVar("Made")
Tie = Literal["beside", "near", "related"]
Ties = Mapping[int, Sequence[tuple[int, Tie]]]
# Ids of entries that told what was so one after the other, the latest first.
Succession = Sequence[AbstractSet[str]]
Values = NDArray[Any]  # one of each candidate, in their order
Concern = Literal["open", "named", "mentioned", "apart", "other"]  # the first where nobody is named
CONCERNS: tuple[Concern, ...] = get_args(Concern)

# A row a candidate. `at` and `holds_until` are seconds since 1970 (what is archived holds until minus infinity);
# `concern` is a place in `CONCERNS`: the question names nobody, who said it or whom it is about, somebody who is
# mentioned in what another said, one of several apart from the others, or somebody else. `persons` has a bit for each of
# several between whom something is asked for. `is_turn` is what was said in a conversation, whose place in it counts;
# `revises` what says that something is another than before, `names_time` what tells when something is;
# `is_said` what somebody said whom the question names. `words` is its BM25 for the question, `lexemes` a bit for each
# word of the question that it has, `cosine` how near its meaning is, `learned` the share of the question that what was
# learned from it answers, `alike` how near its words come to those of the question that it lacks.
ROW = np.dtype(
    [
        ("number", "<i8"),
        ("at", "<f8"),
        ("holds_until", "<f8"),
        ("importance", "<f8"),
        ("is_turn", "?"),
        ("asks", "?"),
        ("revises", "?"),
        ("names_time", "?"),
        ("is_said", "?"),
        ("is_tagged", "?"),
        ("concern", "i1"),
        ("persons", "<i8"),
        ("words", "<f8"),
        ("lexemes", "<i8"),
        ("cosine", "<f8"),
        ("learned", "<f8"),
        ("alike", "<f8"),
    ]
)
PACKED = Struct("<q3d6?bqdq3d")  # a row, as bytes
_BYTES = np.dtype(
    (np.void, ROW.itemsize)
)  # likewise; to join rows field by field takes ten times as long
MOST_BITS = 60  # of `persons` and `lexemes`


class Hit(NamedTuple):
    """What words say of an entry: its BM25, and a bit for each word of the question that it has."""

    score: float
    lexemes: int


_UNSAID = Hit(0.0, 0)


def tuples_of(kind: type[Made], *columns: Iterable[object]) -> Iterator[Made]:
    """Named tuples, of a column for each of their fields; their own constructor takes twice as long.

    It ends with the shortest column, as one that repeats a value has no end.
    """
    made: Any = partial(tuple.__new__, kind)
    return map(made, zip(*columns, strict=False))


class CandidateText(Protocol):
    """What of an entry is no number."""

    @property
    def entry_id(self) -> str:
        """Its id."""
        ...

    @property
    def session_id(self) -> str | None:
        """Where it was heard."""
        ...

    @property
    def content(self) -> str:
        """What it says."""
        ...

    @property
    def speaker(self) -> str:
        """The key of who said it; empty where nobody did."""
        ...

    @property
    def subjects(self) -> frozenset[str]:
        """The keys of whom it is about."""
        ...

    @property
    def times(self) -> Sequence[tuple[datetime, datetime]]:
        """The times that it names."""
        ...

    def terms(self) -> tuple[str, ...]:
        """The words that it begins with, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Candidates:
    """Entries that sources brought: `rows` of the type `ROW`, and `texts` in the same order.

    `ruled_out` are the numbers of others that were brought, but do not answer the question.
    """

    rows: NDArray[Any] = field(default_factory=lambda: np.zeros(0, ROW))
    texts: Sequence[CandidateText] = ()
    ruled_out: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def numbers(self) -> frozenset[int]:
        """Of all that were brought."""
        return self.ruled_out.union(self.rows["number"].tolist())

    def joined(self, *others: Self) -> Self:
        """With those of others after them; none is among both."""
        parts = [self, *(one for one in others if one.texts or one.ruled_out)]
        if len(parts) == 1:
            return self
        return type(self)(
            np.concatenate([one.rows.view(_BYTES) for one in parts]).view(ROW),
            [text for one in parts for text in one.texts],
            frozenset().union(*(one.ruled_out for one in parts)),
        )

    def ordered(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Their places by a value of each, the largest first; of equal ones the newest, in whichever order they were brought."""
        return np.lexsort((self.rows["number"], values))[::-1]

    def of(self, places: NDArray[np.intp]) -> Self:
        """Those at some places."""
        return type(self)(self.rows[places], [self.texts[place] for place in places.tolist()])

    def among(self, numbers: AbstractSet[int]) -> Self:
        """Those of these numbers."""
        return self.of(np.flatnonzero(self._are_among(numbers)))

    def without(
        self, numbers: AbstractSet[int] = frozenset(), *, entry_ids: AbstractSet[str] = frozenset()
    ) -> Self:
        """All but these, whose numbers are ruled out."""
        if not numbers and not entry_ids:
            return self
        goes = self._are_among(numbers)
        if entry_ids:
            goes |= np.array([text.entry_id in entry_ids for text in self.texts], dtype=bool)
        left, gone = self.of(np.flatnonzero(~goes)), self.rows["number"][goes].tolist()
        return type(self)(left.rows, left.texts, self.ruled_out.union(gone))

    def _are_among(self, numbers: AbstractSet[int]) -> NDArray[np.bool_]:
        all_numbers = self.rows["number"].tolist()
        return np.fromiter(map(numbers.__contains__, all_numbers), bool, len(all_numbers))

    def hear(
        self, words: Mapping[int, Hit], near: Mapping[int, float], learned: Mapping[str, float]
    ) -> None:
        """Notes what sources say of them: words and meaning by number, what was learned by id."""
        numbers, rows = self.rows["number"].tolist(), self.rows
        hits = [words.get(number, _UNSAID) for number in numbers]
        rows["words"] = [hit.score for hit in hits]
        rows["lexemes"] = [hit.lexemes for hit in hits]
        rows["cosine"] = [near.get(number, 0.0) for number in numbers]
        if learned:
            rows["learned"] = [learned.get(text.entry_id, 0.0) for text in self.texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, as far as scores need it.

    `weights` is how telling each of its words is. `is_in_doubt`: it asks about somebody of whom nothing is known, or a
    name of it was read as one that is known, and may be that of somebody else. `tells_past`: what is so no longer is
    told too.
    """

    asked_at: datetime
    weights: Sequence[float] = ()
    names: Sequence[str] = ()
    period: Period | None = None
    is_question: bool = False
    asks_when: bool = False
    is_in_doubt: bool = False
    tells_past: bool = False
    mode: Mode = "hybrid"
