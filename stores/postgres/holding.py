"""Whether what an entry claimed still holds, as conditions of SQL.

It stands apart because searches leave out what is over, and a search of what is over asks for just that.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, get_args

from mnestic.memory.claims import Cardinality

_FACT = """EXISTS (
           SELECT FROM mnestic.fact AS f
            WHERE f.tenant_id = :tenant_id AND f.agent_id = :agent_id AND f.subject_key = c.subject_key
              AND f.predicate = c.predicate AND f.claims ? c.id AND {condition}
              AND (f.valid_to IS NULL OR f.valid_to > {moment}))"""
# What is active is found by its own two indexes, however much is past.
_HOLDS = " OR ".join(
    _FACT.format(condition=f"f.status = 'active' AND f.cardinality = '{one}'", moment="now()")
    for one in get_args(Cardinality)
)
_HELD = _FACT.format(
    condition="f.status <> 'deleted' AND f.valid_from <= :held_at", moment=":held_at"
)
# Something was claimed by what an entry heard, but nothing of it holds, or held; of what is asked about, where it
# claimed something of that.
_IS_OVER = """
(SELECT COALESCE(bool_and(NOT ({holds})) FILTER (WHERE c.predicate = ANY(CAST(:respects AS text[]))),
                 bool_and(NOT ({holds})))
   FROM mnestic.claim AS c
  WHERE c.tenant_id = :tenant_id AND c.agent_id = :agent_id
    AND c.session_id = {entry}.session_id AND c.source_id = {entry}.source_id
    AND c.kind IN ('affirmed', 'corrected'))"""


def is_over(
    entry: str, *, respects: Collection[str], held_at: datetime | None
) -> tuple[str, dict[str, Any]]:
    """The condition that nothing of what an entry claimed holds, and its values; it is null where it claimed nothing.

    Args:
        entry: The alias of its table.
        respects: Predicates that are asked about, which alone count where it claimed something by them.
        held_at: When it is to hold; now without it.
    """
    values: dict[str, Any] = {"respects": sorted(respects)}
    if held_at is None:
        return _IS_OVER.format(entry=entry, holds=_HOLDS), values
    return _IS_OVER.format(entry=entry, holds=_HELD), {**values, "held_at": held_at}
