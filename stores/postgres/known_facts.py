"""The entries that what is believed of somebody follows from, in Postgres.

They stand apart from the other sources because they are reached through facts and claims: who moved lives
elsewhere now, and may never have said so in the words of the question.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import text

from mnestic.memory.candidates import Succession
from mnestic.memory.learning import entry_id_at
from mnestic.memory.search import Search
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.holding import holds
from mnestic.stores.postgres.search_filters import statement_of
from mnestic.stores.postgres.unit import NOTHING, Unit

# Facts and claims are looked up one by one (OFFSET 0); see the ties of entries in `search`.
_SAID = """
SELECT f.subject_key, f.predicate, f.cardinality, f.id, c.session_id, c.source_id
  FROM (SELECT f.* FROM unnest(CAST(:names AS text[])) AS n (name)
         CROSS JOIN unnest(CAST(:predicates AS text[])) AS p (name)
         CROSS JOIN LATERAL (SELECT * FROM mnestic.fact AS f
                              WHERE f.tenant_id = :tenant_id AND f.agent_id = :agent_id
                                AND f.subject_key = n.name AND f.predicate = p.name AND {condition} OFFSET 0) AS f
         ORDER BY f.valid_from DESC, f.id LIMIT :limit) AS f
 CROSS JOIN LATERAL jsonb_array_elements_text(f.claims) AS held (id)
 CROSS JOIN LATERAL (SELECT * FROM mnestic.claim
                      WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND id = held.id
                        AND kind IN ('affirmed', 'corrected') AND source_id IS NOT NULL OFFSET 0) AS c
 ORDER BY f.valid_from DESC, f.id, c.said_at DESC, c.id LIMIT :limit
"""
_RELATED = text("""
SELECT object_key FROM mnestic.fact
 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND subject_key = ANY(CAST(:names AS text[]))
   AND predicate = ANY(CAST(:predicates AS text[])) AND status = 'active'
   AND (valid_to IS NULL OR valid_to > now())
""")
_EVER = "f.status <> 'deleted'"
# What messages claim in just the respect that is asked about, but of others alone.
_OTHERS = text("""
SELECT e.number
  FROM mnestic.entry AS e
  JOIN mnestic.claim AS c
    ON c.tenant_id = :tenant_id AND c.agent_id = :agent_id
   AND c.session_id = e.session_id AND c.source_id = e.source_id
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = ANY(CAST(:numbers AS bigint[]))
 GROUP BY e.number
HAVING bool_or(c.predicate = ANY(:predicates)) AND NOT bool_or(c.subject_key = ANY(:names))
""")


class KnownFacts:
    """What is believed of those whom a question names."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def related(self, names: Collection[str], predicates: Collection[str]) -> frozenset[str]:
        """See `mnestic.memory.retrieval_ports.SearchStore.list_related`."""
        if not (names and predicates):
            return frozenset()
        asked = {"names": sorted(names), "predicates": sorted(predicates)}
        (rows,) = await self._unit.rows_of((_RELATED, {**self._unit.owner, **asked}))
        return frozenset(row.object_key for row in rows)

    def said(self, search: Search, *, limit: int) -> Asked:
        """What asks for the messages that told what is believed of the names, the latest first.

        At the time that the question asks about, or else also what has ended, if it asks for that.
        """
        query = search.query
        if not search.believed or not search.predicates or query.mode != "hybrid":
            return NOTHING
        condition, values = holds(search.held)
        if search.held is None and query.statuses != ("active",):
            condition = _EVER
        return statement_of(_SAID.format(condition=condition)), {
            **self._unit.owner,
            **values,
            "names": sorted(search.believed),
            "predicates": sorted(search.predicates),
            "limit": limit,
        }

    def learned(self, said: Sequence[Any], values: Mapping[str, float]) -> dict[str, float]:
        """The ids of the entries of these messages, with the value of what they told."""
        told: dict[str, float] = {}
        for row in said:
            name = self._entry_id(row)
            told[name] = max(told.get(name, 0.0), values[row.predicate])
        return told

    def successions(self, said: Sequence[Any]) -> tuple[Succession, ...]:
        """The ids of the entries that told each of what was so one after the other."""
        told: defaultdict[tuple[str, str], defaultdict[str, set[str]]]
        told = defaultdict(lambda: defaultdict(set))
        for row in said:
            if row.cardinality == "single":
                told[row.subject_key, row.predicate][row.id].add(self._entry_id(row))
        return tuple(tuple(facts.values()) for facts in told.values() if len(facts) > 1)

    def _entry_id(self, row: Any) -> str:
        owner = f"{self._unit.tenant_id}/{self._unit.agent_id}"
        return entry_id_at((row.session_id, row.source_id), owner=owner)

    def others(
        self, numbers: Collection[int], names: Collection[str], predicates: Collection[str]
    ) -> Asked:
        """What asks for entries that claim something by these predicates, but of none of these names."""
        if not (names and predicates):
            return NOTHING
        return _OTHERS, {
            **self._unit.owner,
            "numbers": array_of(numbers),
            "names": sorted(names),
            "predicates": sorted(predicates),
        }
