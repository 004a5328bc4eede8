"""Whether a fact holds, and whether anything that an entry claimed does, as SQL tells it.

It stands apart because one rule serves all who ask for what holds, leave out what is over, or ask for just that.
"""

from collections.abc import Collection
from typing import Any, get_args

from sqlalchemy import text

from mnestic.memory.claims import Cardinality
from mnestic.memory.facts import Stretch
from mnestic.memory.predicates import NAMING

_PIECE = 500  # messages, or topics of facts, that are told at once
_NOW = "f.status = 'active' AND (f.valid_to IS NULL OR f.valid_to > now())"
# It was not over by the beginning of the stretch, and ever was.
_LASTED = "({0}.valid_to IS NULL OR {0}.valid_to > GREATEST({0}.valid_from, :held_first))"
# Somebody said since when it is so.
_DATED = """EXISTS (
           SELECT FROM mnestic.claim AS d
            WHERE d.tenant_id = :tenant_id AND d.agent_id = :agent_id AND d.subject_key = f.subject_key
              AND d.predicate = f.predicate AND f.claims ? d.id AND d.kind IN ('affirmed', 'corrected')
              AND d.valid_from IS NOT NULL)"""
# Something else was so before it: of what is one after the other what came before, from the stretch on; of what may be
# beside others anything that is asked for, in the stretch.
_LED = f"""EXISTS (
           SELECT FROM mnestic.fact AS g
            WHERE g.tenant_id = :tenant_id AND g.agent_id = :agent_id AND g.subject_key = f.subject_key
              AND g.predicate = ANY(CAST(:asked AS text[])) AND g.status <> 'deleted' AND {_LASTED.format("g")}
              AND CASE f.cardinality WHEN 'single' THEN g.predicate = f.predicate AND g.valid_from < f.valid_from
                                     ELSE g.valid_from <= :held_last END)"""
_THEN = f"""f.status <> 'deleted' AND {_LASTED.format("f")}
   AND (f.valid_from <= :held_last
        OR f.predicate = ANY(CAST(:asked AS text[])) AND NOT {_LED} AND NOT {_DATED})"""
_FACT = """EXISTS (
           SELECT FROM mnestic.fact AS f
            WHERE f.tenant_id = :tenant_id AND f.agent_id = :agent_id AND f.subject_key = c.subject_key
              AND f.predicate = c.predicate AND f.claims ? c.id AND {condition})"""
# What is active is found by its own two indexes, however much is past.
_HOLDS = " OR ".join(
    _FACT.format(condition=f"f.cardinality = '{one}' AND {_NOW}") for one in get_args(Cardinality)
)
# Something was claimed by what an entry heard, but nothing of it holds, or held; of what is asked about, where it
# claimed something of that.
_NOTHING = """COALESCE(bool_and(NOT ({holds})) FILTER (WHERE c.predicate = ANY(CAST(:respects AS text[]))),
                 bool_and(NOT ({holds})))"""
_CLAIMED = (
    "c.tenant_id = :tenant_id AND c.agent_id = :agent_id AND c.kind IN ('affirmed', 'corrected')"
)
_IS_OVER = f"""
(SELECT {_NOTHING}
   FROM mnestic.claim AS c
  WHERE {_CLAIMED} AND c.session_id = {{entry}}.session_id AND c.source_id = {{entry}}.source_id)"""  # noqa: S608
# The same for all entries at once. Claims that hold are the keys of one object, since how many there are is not known
# when a search is planned, and a join may look at all of them for each claim.
_IS_AMONG_OVER = f"""
({{entry}}.session_id, {{entry}}.source_id) IN (
 WITH held AS MATERIALIZED (
    SELECT COALESCE(jsonb_object_agg(said.id, NULL), '{{{{}}}}') AS claims
      FROM mnestic.fact AS f CROSS JOIN LATERAL jsonb_array_elements_text(f.claims) AS said (id)
     WHERE f.tenant_id = :tenant_id AND f.agent_id = :agent_id AND {{condition}}
 )
 SELECT c.session_id, c.source_id
   FROM mnestic.claim AS c
  WHERE {_CLAIMED} AND c.session_id IS NOT NULL AND c.source_id IS NOT NULL
  GROUP BY c.session_id, c.source_id
 HAVING {_NOTHING.format(holds="(SELECT claims FROM held) ? c.id")})"""  # noqa: S608
# What all messages claimed, and all facts that were not deleted, for a process to keep, in pieces of JSON: a driver reads
# many small values in one go. Times are seconds since 1970, and infinity where no end is known.
ALL_CLAIMS = text(f"""
WITH known AS MATERIALIZED (
    SELECT row_number() OVER () AS number, id AS fact_id, subject_key, predicate, cardinality, claims,
           status = 'active' AS is_active, extract(epoch FROM valid_from)::double precision AS since,
           COALESCE(extract(epoch FROM valid_to)::double precision, 'Infinity') AS until
      FROM mnestic.fact
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND status <> 'deleted'
),
said AS MATERIALIZED (
    SELECT k.number, c.id, c.session_id, c.source_id, c.said_at, c.valid_from,
           (c.subject_key, c.predicate) = (k.subject_key, k.predicate) AS is_of_fact
      FROM known AS k CROSS JOIN LATERAL jsonb_array_elements_text(k.claims) AS said (id)
      JOIN mnestic.claim AS c ON {_CLAIMED} AND c.id = said.id
),
claimed AS (
    SELECT c.session_id, c.source_id,
           json_agg(json_build_array(c.subject_key, c.predicate,
               CASE WHEN c.kind IN ('affirmed', 'corrected') THEN COALESCE(held.facts, '[]') END)) AS claims
      FROM mnestic.claim AS c
      LEFT JOIN (SELECT id, json_agg(number) AS facts FROM said WHERE is_of_fact GROUP BY id) AS held USING (id)
     WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
       AND c.session_id IS NOT NULL AND c.source_id IS NOT NULL
     GROUP BY c.session_id, c.source_id
),
believed AS (
    SELECT k.*, s.is_dated, s.sources
      FROM known AS k LEFT JOIN (
           SELECT number, bool_or(is_of_fact AND valid_from IS NOT NULL) AS is_dated,
                  json_agg(json_build_array(session_id, source_id) ORDER BY said_at DESC, id)
                      FILTER (WHERE source_id IS NOT NULL) AS sources
             FROM said GROUP BY number) AS s USING (number)
)
SELECT 'claims' AS kind, CAST(json_agg(json_build_array(session_id, source_id, claims)) AS text) AS told
  FROM (SELECT *, row_number() OVER () / {_PIECE} AS piece FROM claimed) AS parted GROUP BY piece
 UNION ALL
SELECT 'facts', CAST(json_agg(json_build_array(number, subject_key, predicate, since, until, fact_id, cardinality,
                                  is_active, COALESCE(is_dated, false), COALESCE(sources, '[]'))
                              ORDER BY since DESC, fact_id) AS text)
  FROM (SELECT *, dense_rank() OVER (ORDER BY subject_key, predicate) / {_PIECE} AS piece FROM believed) AS parted
 GROUP BY piece
 UNION ALL
SELECT 'names', CAST(json_agg(name) AS text)
  FROM (SELECT name, row_number() OVER () / {_PIECE} AS piece
          FROM (SELECT subject_key AS name FROM mnestic.fact
                 WHERE tenant_id = :tenant_id AND agent_id = :agent_id
                 UNION
                SELECT object_key FROM mnestic.fact
                 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND status = 'active'
                   AND predicate IN {NAMING}) AS names
       ) AS parted GROUP BY piece
""")  # noqa: S608 - constants of this module


def holds(held: Stretch | None) -> tuple[str, dict[str, Any]]:
    """The condition that the fact `f` holds, and its values.

    Args:
        held: When it is to hold; now without it.
    """
    if held is None:
        return _NOW, {}
    moments = {"held_first": held.first, "held_last": held.last}
    return _THEN, {**moments, "asked": sorted(held.asked)}


def is_over(
    entry: str, *, respects: Collection[str], held: Stretch | None
) -> tuple[str, dict[str, Any]]:
    """The condition that nothing of what an entry claimed holds, and its values; it is null where it claimed nothing.

    Args:
        entry: The alias of its table.
        respects: Predicates that are asked about, which alone count where it claimed something by them.
        held: When it is to hold; now without it.
    """
    condition, values = holds(held)
    one = _HOLDS if held is None else _FACT.format(condition=condition)
    return _IS_OVER.format(entry=entry, holds=one), {"respects": sorted(respects), **values}


def is_among_over(
    entry: str, *, respects: Collection[str], held: Stretch | None
) -> tuple[str, dict[str, Any]]:
    """As `is_over`, for a search among all entries: what is over is worked out once, out of all claims."""
    condition, values = holds(held)
    among = _IS_AMONG_OVER.format(entry=entry, condition=condition)
    return among, {"respects": sorted(respects), **values}
