"""When and among whom something was said, in Postgres.

It stands apart from the sources, since it looks at conversations as a whole, not at entries.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import text

from mnestic.memory.claims import name_key
from mnestic.memory.dates import Period
from mnestic.memory.search import Search
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.kept_places import LONG
from mnestic.stores.postgres.search_filters import statement_of
from mnestic.stores.postgres.unit import NOTHING, Unit

_FIRST = text("""
SELECT place FROM unnest(CAST(:since AS timestamptz[]), CAST(:until AS timestamptz[]))
        WITH ORDINALITY AS p (since, until, place)
 CROSS JOIN LATERAL (SELECT FROM mnestic.entry
                      WHERE tenant_id = :tenant_id AND agent_id = :agent_id
                        AND at >= p.since AND at < p.until AND status = 'active' LIMIT 1) AS found
 ORDER BY place LIMIT 1
""")
_OF_SESSION = """
e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.session_id = s.session_id"""
# What was said in conversations where nobody is mentioned, and who spoke there; each of these is looked through once.
_APART = f"""
WITH said AS MATERIALIZED (
    SELECT number, session_id FROM mnestic.entry
     WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND number = ANY(CAST(:numbers AS bigint[]))
       AND session_id IS NOT NULL
),
apart AS MATERIALIZED (
    SELECT s.session_id, heard.speakers
      FROM (SELECT DISTINCT session_id FROM said) AS s
     CROSS JOIN LATERAL (
           SELECT array_agg(DISTINCT speaker) AS speakers, count(*) AS number,
                  bool_or(({{has_letters}}) AND content ~* CAST(:pattern AS text)) AS is_mentioned
             FROM (SELECT COALESCE(e.speaker, '') AS speaker, e.content
                     FROM mnestic.entry AS e WHERE {_OF_SESSION} LIMIT {LONG} + 1) AS whole) AS heard
     WHERE heard.number <= {LONG} AND NOT heard.is_mentioned
)
SELECT said.number, apart.speakers FROM said JOIN apart USING (session_id)
"""  # noqa: S608 - constants of this module


class KnownSessions:
    """What an agent heard when, and among whom."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def period(self, periods: Sequence[Period]) -> Period | None:
        """See `mnestic.memory.retrieval_ports.SearchStore.find_period`."""
        bounds = {"since": [one.start for one in periods], "until": [one.end for one in periods]}
        (rows,) = await self._unit.rows_of((_FIRST, {**self._unit.owner, **bounds}))
        return periods[rows[0].place - 1] if rows else None

    def apart(self, numbers: Sequence[int], search: Search) -> Asked:
        """What asks for those that were said where nobody whom the question names was mentioned, and for who spoke there."""
        if not numbers or not search.names:
            return NOTHING
        has_letters, letters = _letters(search.names)
        return statement_of(_APART.format(has_letters=has_letters)), {
            **self._unit.owner,
            "numbers": array_of(numbers),
            "pattern": _pattern(search.names),
            **letters,
        }


def spoke_not(rows: Iterable[Any], names: Collection[str]) -> set[int]:
    """Of the rows that `KnownSessions.apart` asks for the entries that were said where nobody of the names spoke, by key."""
    return {row.number for row in rows if set(names).isdisjoint(map(name_key, row.speakers))}


def _letters(names: Collection[str]) -> tuple[str, dict[str, str]]:
    """The condition that a text has the letters of a name at all, which takes less than a pattern; and its values.

    Other letters than those of English are folded in more ways than one, and ss may be one of them.
    """
    first = sorted({name.partition(" ")[0] for name in names})
    if not all(word.isascii() and "ss" not in word for word in first):
        return "true", {}
    values = {f"first_{place}": word for place, word in enumerate(first)}
    return " OR ".join(f"strpos(lower(content), :{name}) > 0" for name in values), values


def _pattern(names: Collection[str]) -> str | None:
    """A pattern of Postgres for texts in which one of the names is a word."""
    if not names:
        return None
    words = "|".join(
        r"\s+".join(
            "".join(f"\\{c}" if not c.isalnum() else c for c in part) for part in name.split()
        )
        for name in sorted(names)
    ).replace("ss", "(?:ss|\u00df)")
    return rf"(^|\W)({words})($|\W)"
