"""Search in Postgres: each source brings the entries that say most, by number.

It reads what the stores of entries and facts write, and writes nothing. Row-level security lets only
comparisons that cannot leak use an index, so words and names are looked up by equality.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import TextClause, text

from mnestic.memory.claims import name_key
from mnestic.memory.dates import Period
from mnestic.memory.ranking import SATURATION, Candidate, Concern, Tie
from mnestic.memory.retrieval import RetrievalQuery
from mnestic.memory.search import FreshEntry, Hit, KnownName, Vocabulary
from mnestic.stores.postgres.known_facts import KnownFacts
from mnestic.stores.postgres.known_words import KnownWords
from mnestic.stores.postgres.search_filters import Filter
from mnestic.stores.postgres.unit import Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_LENGTH = 0.75  # how much an entry's length counts, BM25's b
_WIDEST_INDEXED = 1280  # dimensions; see the index embedding_exact

_FRESH = text("""
SELECT e.number, e.content
  FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number > :after
   AND NOT EXISTS (
       SELECT FROM mnestic.embedding AS v
        WHERE v.tenant_id = :tenant_id AND v.agent_id = :agent_id AND v.model = :model
          AND v.entry_number = e.number
       OFFSET 0
   )
 ORDER BY e.number DESC LIMIT :limit
""")
_BEHIND = text("""
SELECT c.entries - COALESCE(m.entries, 0) AS missing, COALESCE(m.complete_to, 0) AS complete_to
  FROM mnestic.corpus AS c
  LEFT JOIN mnestic.embedding_model AS m
    ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = :model
 WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
""")
_BY_WORDS = """
WITH {allowed} asked AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS real[]), CAST(:bits AS bigint[]))
        AS _ (lexeme, weight, bit)
)
SELECT p.entry_number AS number, bit_or(a.bit) AS lexemes,
       sum(a.weight * (p.frequency * {more} / (p.frequency + {saturation}
           * ({short} + {length} * p.length / CAST(:average AS real)))))::real AS score
  FROM asked AS a
  JOIN mnestic.posting AS p
    ON p.tenant_id = :tenant_id AND p.agent_id = :agent_id AND p.lexeme = a.lexeme
 {where}
 GROUP BY p.entry_number ORDER BY score DESC, number DESC LIMIT :limit
"""
_BY_MEANING = """
WITH {allowed} nearest AS (
    SELECT entry_number AS number, - (vector <#> CAST(:vector AS halfvec)) AS score
      FROM mnestic.embedding
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND model = :model {width} {where}
     ORDER BY vector <#> CAST(:vector AS halfvec) LIMIT :limit
)
SELECT number, score FROM nearest ORDER BY score DESC, number DESC
"""
_BY_NAME = text(f"""
SELECT found.number, k.kind FROM unnest(CAST(:kinds AS text[]), CAST(:terms AS text[])) AS k (kind, term)
 CROSS JOIN LATERAL (
    SELECT entry_number AS number FROM mnestic.entry_term
     WHERE {_MINE} AND kind = k.kind AND term = k.term
     ORDER BY entry_number DESC LIMIT :limit
 ) AS found
""")  # noqa: S608
_BY_TIME = text(f"""
SELECT number FROM mnestic.entry WHERE {_MINE} AND at >= :since AND at < :until
 ORDER BY at DESC, id DESC LIMIT :limit
""")  # noqa: S608
_ROWS = """
SELECT e.number, e.id, e.session_id, e.speaker, e.subjects::text AS subjects, e.at, e.importance,
       e.aliases::text AS aliases, e.tags::text AS tags, e.entry_type = 'interaction' AS is_turn,
       e.times <> '[]' AS names_time, CASE WHEN :timed THEN e.times END AS times, right(rtrim(e.content), 1) IN ('?', '\uff1f') AS asks,
       CAST(:pattern AS text) IS NOT NULL AND e.content ~* :pattern AS names_one
  FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = ANY(:numbers) {conditions}
"""
# In a conversation two turns before and after; elsewhere an entry's place says nothing.
_TIES = text("""
WITH top AS MATERIALIZED (
    SELECT number, session_id, at, id, related, entry_type FROM mnestic.entry
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND number = ANY(:numbers)
)
SELECT t.number AS lender, n.number, CASE WHEN n.step = 1 THEN 'beside' ELSE 'near' END AS tie
  FROM top AS t CROSS JOIN LATERAL (
    (SELECT e.number, e.entry_type, row_number() OVER (ORDER BY e.at, e.id) AS step
       FROM mnestic.entry AS e
      WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.session_id = t.session_id
        AND (e.at, e.id) > (t.at, t.id) ORDER BY e.at, e.id LIMIT 2)
    UNION ALL
    (SELECT e.number, e.entry_type, row_number() OVER (ORDER BY e.at DESC, e.id DESC) AS step
       FROM mnestic.entry AS e
      WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.session_id = t.session_id
        AND (e.at, e.id) < (t.at, t.id) ORDER BY e.at DESC, e.id DESC LIMIT 2)
  ) AS n
 WHERE t.entry_type = 'interaction' AND n.entry_type = 'interaction'
UNION ALL
SELECT t.number, e.number, 'related'
  FROM top AS t CROSS JOIN jsonb_array_elements_text(t.related) AS r (id)
  JOIN mnestic.entry AS e ON e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.id = r.id
UNION ALL
SELECT t.number, r.entry_number, 'related'
  FROM top AS t
  JOIN mnestic.entry_term AS r
    ON r.tenant_id = :tenant_id AND r.agent_id = :agent_id AND r.kind = 'related' AND r.term = t.id
""")
_OVER = text("""
SELECT e.number
  FROM mnestic.entry AS e
  JOIN mnestic.claim AS c
    ON c.tenant_id = :tenant_id AND c.agent_id = :agent_id
   AND c.session_id = e.session_id AND c.source_id = e.source_id
   AND c.kind IN ('affirmed', 'corrected')
  LEFT JOIN mnestic.fact AS f
    ON f.tenant_id = :tenant_id AND f.agent_id = :agent_id AND f.subject_key = c.subject_key
   AND f.predicate = c.predicate AND f.claims ? c.id
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = ANY(:numbers)
 GROUP BY e.number
HAVING NOT COALESCE(bool_or(CASE WHEN CAST(:as_of AS timestamptz) IS NULL THEN f.status = 'active'
       ELSE f.status <> 'deleted' AND f.valid_from <= :as_of END
       AND (f.valid_to IS NULL OR f.valid_to > COALESCE(:as_of, now()))), false)
""")


class PostgresSearchStore:
    """Implements `mnestic.memory.ports.SearchStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._words = KnownWords(unit)

    async def list_names(self, keys: Collection[str]) -> dict[str, KnownName]:
        """See the port."""
        self._unit.read(
            "entry.search", "*"
        )  # every question begins here; its words are nobody's business
        return await self._words.names(keys)

    async def look_up(self, words: Sequence[str], *, slips: Collection[str] = ()) -> Vocabulary:
        """See the port."""
        return await self._words.look_up(words, slips=slips)

    async def list_fresh(self, model: str, *, limit: int) -> tuple[FreshEntry, ...]:
        """See the port."""
        asked: dict[str, Any] = {**self._unit.owner, "model": model, "limit": limit}
        behind = await self._unit.row(_BEHIND, asked)
        if behind is None or behind.missing <= 0:
            return ()
        # As many as may be, not those that are missing: meanwhile others may have written newer ones.
        rows = await self._unit.rows(_FRESH, {**asked, "after": behind.complete_to})
        if len(rows) < min(limit, behind.missing):
            rows = await self._unit.rows(_FRESH, {**asked, "after": 0})
        return tuple(FreshEntry(row.number, row.content) for row in rows)

    async def find_by_words(
        self, vocabulary: Vocabulary, query: RetrievalQuery, *, limit: int
    ) -> tuple[Hit, ...]:
        """See the port."""
        asked = [
            (lexeme, one.weight, 1 << place)
            for place, one in enumerate(vocabulary.asked)
            if one.is_known
            for lexeme in one.lexemes
        ]
        if not asked:
            return ()
        lexemes, weights, bits = (list(part) for part in zip(*asked, strict=True))
        narrow = Filter.of(query)
        statement = _statement(
            _BY_WORDS.format(
                allowed=narrow.allowed,
                where=narrow.within("WHERE p.entry_number"),
                more=SATURATION + 1,
                saturation=SATURATION,
                short=1 - _LENGTH,
                length=_LENGTH,
            )
        )
        values = {"lexemes": lexemes, "weights": weights, "bits": bits}
        rows = await self._unit.rows(
            statement,
            {
                **self._unit.owner,
                **narrow.values,
                **values,
                "average": vocabulary.average_length,
                "limit": limit,
            },
        )
        return tuple(Hit(row.number, score=row.score, lexemes=row.lexemes) for row in rows)

    async def find_by_meaning(
        self, model: str, vector: bytes, query: RetrievalQuery, *, limit: int
    ) -> tuple[Hit, ...]:
        """See the port."""
        numbers = np.frombuffer(vector, dtype="<f4")
        narrow = Filter.of(query)
        width = "AND dimensions <= 1280" if len(numbers) <= _WIDEST_INDEXED else ""
        statement = _statement(
            _BY_MEANING.format(
                allowed=narrow.allowed, where=narrow.within("AND entry_number"), width=width
            )
        )
        asked = {"model": model, "vector": _literal(numbers), "limit": limit}
        rows = await self._unit.rows(statement, {**self._unit.owner, **narrow.values, **asked})
        return tuple(Hit(row.number, score=row.score) for row in rows)

    async def find_by_names(
        self, names: Collection[str], tags: Collection[str], *, limit: int
    ) -> tuple[int, ...]:
        """See the port."""
        asked = [(kind, name) for kind in ("subject", "alias") for name in sorted(names)]
        asked += [(kind, tag) for kind in ("tag", "alias") for tag in sorted(tags)]
        if not asked:
            return ()
        kinds, terms = (list(part) for part in zip(*asked, strict=True))
        values = {"kinds": kinds, "terms": terms, "limit": limit}
        rows = await self._unit.rows(_BY_NAME, {**self._unit.owner, **values})
        return tuple(row.number for row in rows)

    async def find_by_facts(
        self,
        names: Collection[str],
        predicates: Mapping[str, float],
        query: RetrievalQuery,
        *,
        limit: int,
    ) -> dict[int, float]:
        """See the port."""
        return await KnownFacts(self._unit).entries(names, predicates, query, limit=limit)

    async def list_others(
        self, numbers: Sequence[int], *, names: Collection[str], predicates: Collection[str]
    ) -> frozenset[int]:
        """See the port."""
        return await KnownFacts(self._unit).others(numbers, names, predicates)

    async def find_by_time(self, period: Period, *, limit: int) -> tuple[int, ...]:
        """See the port."""
        asked = {"since": period.start, "until": period.end, "limit": limit}
        rows = await self._unit.rows(_BY_TIME, {**self._unit.owner, **asked})
        return tuple(row.number for row in rows)

    async def list_ties(self, numbers: Sequence[int]) -> dict[int, list[tuple[int, Tie]]]:
        """See the port."""
        found: dict[int, list[tuple[int, Tie]]] = defaultdict(list)
        if numbers:
            asked = {**self._unit.owner, "numbers": list(numbers)}
            for row in await self._unit.rows(_TIES, asked):
                found[row.lender].append((row.number, row.tie))
        return found

    async def describe(
        self,
        numbers: Collection[int],
        query: RetrievalQuery,
        *,
        names: Collection[str],
        tags: Collection[str],
        timed: bool,
    ) -> tuple[Candidate, ...]:
        """See the port."""
        if not numbers:
            return ()
        narrow = Filter.of(query)
        statement = _statement(_ROWS.format(conditions=narrow.conditions))
        asked = {"numbers": sorted(numbers), "pattern": _pattern(names), "timed": timed}
        rows = await self._unit.rows(statement, {**self._unit.owner, **narrow.values, **asked})
        return tuple(_candidate(row, names=frozenset(names), tags=frozenset(tags)) for row in rows)

    async def list_over(self, numbers: Sequence[int], *, as_of: datetime | None) -> frozenset[int]:
        """See the port."""
        if not numbers:
            return frozenset()
        asked = {**self._unit.owner, "numbers": list(numbers), "as_of": as_of}
        return frozenset(row.number for row in await self._unit.rows(_OVER, asked))


def _literal(numbers: "np.ndarray[Any, np.dtype[np.float32]]") -> str:
    return "[" + ",".join(f"{number:.6g}" for number in numbers.tolist()) + "]"


def _pattern(names: Collection[str]) -> str | None:
    """A pattern of Postgres for texts in which one of the names is a word."""
    if not names:
        return None
    words = "|".join(
        r"\s+".join(
            "".join(f"\\{c}" if not c.isalnum() else c for c in part) for part in name.split()
        )
        for name in sorted(names)
    )
    return rf"(^|\W)({words})($|\W)"


def _candidate(row: Any, *, names: frozenset[str], tags: frozenset[str]) -> Candidate:
    is_said = bool(names and row.is_turn and row.speaker and _key(row.speaker) in names)
    subjects, aliases = _keys(row.subjects), _keys(row.aliases)
    about = row.names_one or not names.isdisjoint(subjects | aliases)
    concern: Concern = "open"
    if is_said or (about and not row.is_turn):
        concern = "named"
    elif about:
        concern = "mentioned"
    elif names and (row.is_turn or subjects):
        concern = "other"
    return Candidate(
        number=row.number,
        entry_id=row.id,
        at=row.at,
        session_id=row.session_id,
        is_turn=row.is_turn,
        asks=row.asks,
        names_time=row.names_time,
        times=tuple(_times(row.times or ())),
        concern=concern,
        is_said=is_said,
        is_tagged=not tags.isdisjoint(_keys(row.tags) | aliases),
        importance=row.importance,
    )


@lru_cache(1000)
def _statement(written: str) -> TextClause:
    """The statement of a text; taking it apart takes longer than many a search."""
    return text(written)


@lru_cache(10_000)
def _key(name: str) -> str:
    return name_key(name)


@lru_cache(10_000)
def _keys(stored: str) -> frozenset[str]:
    """The keys of names as they are stored; many entries share them."""
    return frozenset(name_key(name) for name in json.loads(stored))


def _times(stored: Iterable[Mapping[str, str]]) -> Iterable[tuple[datetime, datetime]]:
    for one in stored:
        yield datetime.fromisoformat(one["start"]), datetime.fromisoformat(one["end"])
