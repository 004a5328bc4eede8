"""What brings entries for a question, beside their meaning: words, names, a time and what is believed.

Each tells out of what the process keeps, where that is known and no other entries are to be looked at, or else out of
Postgres. It stands apart from the search, since both have to tell the same.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np

from mnestic.memory.candidates import Hit
from mnestic.memory.search import Search, Vocabulary
from mnestic.memory.weighing import SATURATION
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.kept_claims import Said
from mnestic.stores.postgres.kept_words import LENGTH
from mnestic.stores.postgres.known_facts import KnownFacts
from mnestic.stores.postgres.known_words import MOST_NAMED
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.search_filters import Filter, statement_of
from mnestic.stores.postgres.unit import NOTHING, Unit

Brought = TypeVar("Brought")
_TIMED, _LEARNED = 100, 50  # entries that a period and facts bring


def _double(number: float) -> str:
    """A number as Postgres reckons fast: without a type it is a decimal, with which a search by words takes up to twice as long."""
    return f"CAST({number} AS double precision)"


_BY_WORDS = f"""
WITH {{allowed}} asked AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS real[]), CAST(:bits AS bigint[]))
        AS _ (lexeme, weight, bit)
)
SELECT p.entry_number AS number,
       sum(a.weight * (p.frequency * {_double(SATURATION + 1)} / (p.frequency + {_double(SATURATION)}
           * ({_double(1 - LENGTH)} + {_double(LENGTH)} * p.length / CAST(:average AS real)))))::real AS score,
       bit_or(a.bit) AS lexemes
  FROM asked AS a
  JOIN mnestic.posting AS p
    ON p.tenant_id = :tenant_id AND p.agent_id = :agent_id AND p.lexeme = a.lexeme
 {{where}}
 GROUP BY p.entry_number ORDER BY score DESC, number DESC LIMIT :limit
"""  # noqa: S608 - constants
_BY_NAME = f"""
WITH {{allowed}} k AS (
    SELECT * FROM unnest(CAST(:kinds AS text[]), CAST(:terms AS text[])) AS _ (kind, term)
)
SELECT found.number FROM k
 CROSS JOIN LATERAL (
    SELECT entry_number AS number FROM mnestic.entry_term
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND kind = k.kind AND term = k.term {{within}}
     ORDER BY entry_number DESC LIMIT {MOST_NAMED}
 ) AS found
"""  # noqa: S608 - constants
_BY_TIME = f"""
SELECT e.number FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.at >= :since_then AND e.at < :until_then
       {{conditions}}
 ORDER BY e.at DESC, e.id DESC LIMIT {_TIMED}
"""  # noqa: S608 - constants


def _float(score: float) -> float:
    """A score as it was reckoned; it is told in as few digits as tell it from others of its type."""
    return float(np.float32(score))


@dataclass(frozen=True, slots=True)
class Source(Generic[Brought]):
    """What one source brings, as `told` of the rows of what it is `asking`, if that is anything."""

    asking: Asked
    told: Callable[[Sequence[Any]], Brought]

    @classmethod
    def known(cls, brought: Brought) -> Self:
        """One that need not be asked."""
        return cls(NOTHING, lambda _: brought)


class Sources:
    """The sources of one search, but for meaning."""

    def __init__(self, unit: Unit, reading: Reading | None, search: Search) -> None:
        """Prepares them.

        Args:
            unit: Where Postgres is asked.
            reading: What the process keeps of the agent, if that may be used.
            search: What is looked for.
        """
        self._unit, self._search, self._filter = unit, search, Filter.of(search)
        kept = None if self._filter.is_narrow or reading is None else reading
        self._words = None if kept is None else kept.words
        self._places = None if kept is None else kept.places
        self._claims = None if kept is None else kept.claims

    def words(self) -> Source[dict[int, Hit]]:
        """The entries with the highest BM25, by number."""
        by_meaning = self._search.query.mode == "semantic"
        vocabulary = Vocabulary() if by_meaning else self._search.vocabulary
        return self._by_words(vocabulary, limit=self._search.pool)

    def called(self) -> Source[dict[int, Hit]]:
        """Likewise, by the words of names."""
        return self._by_words(self._search.called, limit=MOST_NAMED)

    def named(self) -> Source[Sequence[int]]:
        """The newest entries about each of the names, if nothing else is asked; those with the tags or aliases."""
        search = self._search
        asks_more = any(one.is_known for one in search.vocabulary.asked)
        names = () if asks_more else sorted(search.names)
        terms = [(kind, name) for kind in ("subject", "alias") for name in names]
        terms += [(kind, tag) for kind in ("tag", "alias") for tag in sorted(search.tags)]
        if not terms:
            return Source.known(())
        if self._words is not None:
            return Source.known(self._words.newest(terms))
        kinds, asked = (list(part) for part in zip(*terms, strict=True))
        narrow = self._filter
        statement = _BY_NAME.format(
            allowed=narrow.allowed, within=narrow.within("AND entry_number")
        )
        return self._of_numbers(statement, kinds=kinds, terms=asked)

    def timed(self) -> Source[Sequence[int]]:
        """The last entries of the period."""
        period = self._search.period
        if period is None:
            return Source.known(())
        if self._places is not None:
            now = self._search.now.timestamp()
            if (known := self._places.of_time(period, now=now, limit=_TIMED)) is not None:
                return Source.known(known)
        statement = _BY_TIME.format(conditions=self._filter.conditions)
        return self._of_numbers(statement, since_then=period.start, until_then=period.end)

    def said(self) -> Source[Sequence[Said]]:
        """The messages that told what is believed of the names, the latest first."""
        search, facts = self._search, KnownFacts(self._unit)
        asking = facts.said(search, limit=_LEARNED)
        if asking is NOTHING or self._claims is None:
            return Source(asking, lambda rows: rows)
        holds = self._claims.holding(search.held, now=search.now.timestamp())
        return Source.known(
            self._claims.said(search.believed, search.predicates, holds, limit=_LEARNED)
        )

    def holding(self, entry_ids: Collection[str]) -> Mapping[str, int] | None:
        """The numbers of those entries that there are and that hold, by id; None where the process does not know it."""
        now = self._search.now.timestamp()
        return None if self._places is None else self._places.holding(entry_ids, now=now)

    def _by_words(self, vocabulary: Vocabulary, *, limit: int) -> Source[dict[int, Hit]]:
        asked = [
            (lexeme, one.weight, 1 << place)
            for place, one in enumerate(vocabulary.asked)
            if one.is_known
            for lexeme in one.lexemes
        ]
        if not asked:
            return Source.known({})
        average = vocabulary.average_length
        if self._words is not None:
            return Source.known(self._words.best(asked, average=average, limit=limit))
        narrow = self._filter
        lexemes, weights, bits = zip(*asked, strict=True)
        statement = _BY_WORDS.format(
            allowed=narrow.allowed, where=narrow.within("WHERE p.entry_number")
        )
        values: dict[str, Any] = {"limit": limit, "average": average}
        values |= {"lexemes": [*lexemes], "weights": array_of(weights), "bits": array_of(bits)}
        return Source(
            self._asking(statement, **values),
            lambda rows: {number: Hit(_float(score), words) for number, score, words in rows},
        )

    def _of_numbers(self, statement: str, **values: Any) -> Source[Sequence[int]]:
        return Source(self._asking(statement, **values), lambda rows: [row.number for row in rows])

    def _asking(self, statement: str, **values: Any) -> Asked:
        return statement_of(statement), {**self._unit.owner, **self._filter.values, **values}
