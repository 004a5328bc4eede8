"""Candidates of a search: what stores make, and ranking scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

Made = TypeVar("Made")
EdgeKind = Literal["neighbour", "second_neighbour", "related"]
Edges = Mapping[int, Sequence[tuple[int, EdgeKind]]]
ScoreArray = NDArray[Any]  # a value for each candidate, in their order
PersonMatch = Literal["open", "named", "mentioned", "other"]  # the first where nobody is named
PERSON_MATCHES: tuple[PersonMatch, ...] = get_args(PersonMatch)

# One row for each candidate. `at` are seconds since 1970.
# `person_match` is an index of `PERSON_MATCHES`: open (the query names nobody), named (the speaker or the subject is named),
# mentioned (another speaker mentions the named person) or other. `is_turn`: a message of a conversation, which has
# neighbours. `names_time`: it names a time. `is_by_named_speaker`: a turn of somebody whom the query names. `is_superseded`:
# what it says is so no longer. `words` is BM25 for the query; `lexemes` has a bit for each word of the query that the entry
# has; `cosine` is the similarity of meaning; `late_interaction` is the similarity of its words to the query's words that it
# lacks; `identity` is 1 if it has an exact term of the query, such as a ticket's number, and -1 if it has only another of that
# kind.
ROW = np.dtype(
    [
        ("number", "<i8"),
        ("at", "<f8"),
        ("importance", "<f8"),
        ("is_turn", "?"),
        ("asks", "?"),
        ("names_time", "?"),
        ("is_by_named_speaker", "?"),
        ("is_tagged", "?"),
        ("is_superseded", "?"),
        ("person_match", "i1"),
        ("words", "<f8"),
        ("lexemes", "<i8"),
        ("cosine", "<f8"),
        ("late_interaction", "<f8"),
        ("identity", "i1"),
    ]
)
_INHERITED = ("words", "cosine")  # by what supersedes an entry


def tuples_of(kind: type[Made], *columns: Iterable[object]) -> Iterator[Made]:
    """Named tuples out of columns, one column for each field. Their own constructor takes twice as long.

    It ends with the shortest column, so that a column may repeat one value without end.
    """
    made: Any = partial(tuple.__new__, kind)
    return map(made, zip(*columns, strict=False))


class CandidateText(Protocol):
    """The parts of a candidate that are no numbers."""

    @property
    def entry_id(self) -> str:
        """Its id."""
        ...

    @property
    def session_id(self) -> str | None:
        """The session that it is from."""
        ...

    @property
    def content(self) -> str:
        """Its text."""
        ...

    @property
    def speaker(self) -> str:
        """The key of its speaker; empty without one."""
        ...

    @property
    def subjects(self) -> frozenset[str]:
        """The keys of its subjects."""
        ...

    @property
    def times(self) -> Sequence[tuple[datetime, datetime]]:
        """The times that it names."""
        ...

    @property
    def passage(self) -> str:
        """Of a long text, about the part with most words of the query; empty if it is short or has none."""
        ...

    @property
    def tokens(self) -> bytes | None:
        """The tokens of `terms`, as `WordEmbedder.tokenize` gives them; None where they are not stored."""
        ...

    def terms(self) -> tuple[str, ...]:
        """The words at its beginning, each once."""
        ...


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of all sources, each once: `rows` of the type `ROW`, and `texts` in the same order.

    Along `edges`, by number, entries receive a part of the scores of others. `successors` are the numbers of the entries that
    supersede some of the best, by the number of each. `is_exhaustive`: no source has more candidates.
    """

    rows: NDArray[Any] = field(default_factory=lambda: np.zeros(0, ROW))
    texts: Sequence[CandidateText] = ()
    edges: Edges = field(default_factory=dict)
    successors: Mapping[int, Sequence[int]] = field(default_factory=dict)
    is_exhaustive: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    def ordered(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Their indexes, sorted by `values`, the largest first; of equal ones the newest comes first."""
        return np.lexsort((self.rows["number"], values))[::-1]

    def of(self, places: NDArray[np.intp]) -> Self:
        """The candidates at some indexes."""
        texts = [self.texts[place] for place in places.tolist()]
        return replace(self, rows=self.rows[places], texts=texts)

    def without(
        self, *, are_superseded: bool = False, entry_ids: AbstractSet[str] = frozenset()
    ) -> Self:
        """All candidates but the superseded ones, if these go, and some by id."""
        goes = self.rows["is_superseded"] & are_superseded
        if entry_ids:
            goes |= np.array([text.entry_id in entry_ids for text in self.texts], dtype=bool)
        return self.of(np.flatnonzero(~goes))

    def with_inherited(self) -> Self:
        """The candidates, of which successors match the query as well as the superseded entries do in whose place they stand."""
        if not (successors := self.successors):
            return self
        rows = self.rows.copy()
        rows["is_superseded"] |= np.isin(rows["number"], [*successors])
        places = {number: place for place, number in enumerate(rows["number"].tolist())}
        pairs = ((old, new) for old, numbers in successors.items() for new in numbers)
        for old, new in (
            (places[old], places[new]) for old, new in pairs if {old, new} <= places.keys()
        ):
            for name in _INHERITED:
                rows[name][new] = np.maximum(rows[name][new], rows[name][old])
            rows["lexemes"][new] |= rows["lexemes"][old]
        return replace(self, rows=rows)


class Ranked(NamedTuple):
    """A candidate with its score, and what each signal added to the sum behind the score.

    `words` is BM25 for the query; `signal_values` are the signals of all candidates, in which this one has the index `place`. `reranked` is what a reranker added to the score.
    """

    number: int
    at: float
    importance: float
    words: float
    score: float
    place: int
    signal_values: Mapping[str, ScoreArray]
    reranked: float | None = None

    @property
    def signals(self) -> dict[str, float]:
        """What each signal added; signals that added nothing are left out."""
        parts = {name: float(part.item(self.place)) for name, part in self.signal_values.items()}
        found = {name: part for name, part in parts.items() if part}
        return found if self.reranked is None else found | {"rerank": self.reranked}
