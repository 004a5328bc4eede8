"""Candidates: entries that sources brought for a question, and the question, as far as scores need both.

They stand apart from ranking, as stores make candidates, and ranking weighs them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.language.dates import Period
from mnestic.memory.retrieval.queries import Mode

Made = TypeVar("Made")
EdgeKind = Literal["neighbour", "second_neighbour", "related"]
Edges = Mapping[int, Sequence[tuple[int, EdgeKind]]]
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
# `is_by_named_speaker` what somebody said whom the question names. `words` is its BM25 for the question, `lexemes` a bit for each
# word of the question that it has, `cosine` how near its meaning is, `fact_match` the share of the question that
# the facts of it answer, `late_interaction` how near its words come to those of the question that it lacks.
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
        ("is_by_named_speaker", "?"),
        ("is_tagged", "?"),
        ("concern", "i1"),
        ("persons", "<i8"),
        ("words", "<f8"),
        ("lexemes", "<i8"),
        ("cosine", "<f8"),
        ("fact_match", "<f8"),
        ("late_interaction", "<f8"),
    ]
)
MOST_BITS = 60  # of `persons` and `lexemes`


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

    @property
    def tokens(self) -> bytes | None:
        """The tokens of `terms`, as `WordEmbedder.tokenize` gives them; None where they are not stored."""
        ...

    def terms(self) -> tuple[str, ...]:
        """The words that it begins with, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Candidates:
    """Entries that sources brought: `rows` of the type `ROW`, and `texts` in the same order."""

    rows: NDArray[Any] = field(default_factory=lambda: np.zeros(0, ROW))
    texts: Sequence[CandidateText] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def ordered(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Their places by a value of each, the largest first; of equal ones the newest, in whichever order they were brought."""
        return np.lexsort((self.rows["number"], values))[::-1]

    def of(self, places: NDArray[np.intp]) -> Self:
        """Those at some places."""
        return type(self)(self.rows[places], [self.texts[place] for place in places.tolist()])

    def without(
        self, numbers: AbstractSet[int] = frozenset(), *, entry_ids: AbstractSet[str] = frozenset()
    ) -> Self:
        """All but these."""
        if not numbers and not entry_ids:
            return self
        goes = self._are_among(numbers)
        if entry_ids:
            goes |= np.array([text.entry_id in entry_ids for text in self.texts], dtype=bool)
        return self.of(np.flatnonzero(~goes))

    def _are_among(self, numbers: AbstractSet[int]) -> NDArray[np.bool_]:
        all_numbers = self.rows["number"].tolist()
        return np.fromiter(map(numbers.__contains__, all_numbers), bool, len(all_numbers))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQuery:
    """A question, as far as scores need it.

    `weights` is how telling each of its words is. `is_uncertain`: it asks about somebody of whom nothing is known, or a
    name of it was read as one that is known, and may be that of somebody else. `includes_past`: what is so no longer is
    told too.
    """

    asked_at: datetime
    weights: Sequence[float] = ()
    names: Sequence[str] = ()
    period: Period | None = None
    is_question: bool = False
    asks_for_time: bool = False
    is_uncertain: bool = False
    includes_past: bool = False
    mode: Mode = "hybrid"
