"""What a question asks of entries beside its words, as conditions of SQL.

It stands apart because every source is held to the same conditions.
"""

# ruff: noqa: S608 (conditions are of this module, values are bound)

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from sqlalchemy import TextClause, text

from mnestic.memory.claims import name_key
from mnestic.memory.search import Search
from mnestic.stores.postgres.holding import is_among_over

_OWNED = "{0}.tenant_id = :tenant_id AND {0}.agent_id = :agent_id"
_TAGGED = f"""
    e.number IN (SELECT t.entry_number FROM mnestic.entry_term AS t
                  WHERE {_OWNED.format("t")} AND t.kind = 'tag' AND t.term = ANY(:tags))"""
_ABOUT = f"""
    e.number IN (SELECT t.entry_number FROM mnestic.entry_term AS t
                  WHERE {_OWNED.format("t")} AND t.kind IN ('subject', 'alias') AND t.term = :subject)"""
_OF_CATEGORY = f"""
    EXISTS (SELECT FROM mnestic.claim AS c JOIN mnestic.fact AS f
               ON {_OWNED.format("f")} AND f.subject_key = c.subject_key AND f.predicate = c.predicate
             WHERE {_OWNED.format("c")} AND f.category = ANY(:categories)
               AND c.session_id = e.session_id
               AND c.source_id = e.source_id)"""
_STATUS = "e.status = ANY(:statuses)"
_ALIVE = "(e.expires_at IS NULL OR e.expires_at > COALESCE(CAST(:alive_at AS timestamptz), now()))"


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on the entry `e`, with their values.

    `is_narrow`: sources look at nothing else then. Otherwise nearly every entry is let through, and what
    is not is left out once a source has brought it.
    """

    conditions: str
    values: dict[str, Any]
    is_narrow: bool

    @classmethod
    def of(cls, search: Search) -> Self:
        """What a question asks."""
        query = search.query
        asked: list[tuple[str, str, Any]] = [
            ("e.entry_type = ANY(:types)", "types", list(query.entry_types)),
            ("e.session_id = :session_id", "session_id", query.session_id),
            ("e.channel = :channel", "channel", query.channel),
            ("e.at >= :since", "since", query.since),
            ("e.at < :until", "until", query.until),
            ("e.at <= :known_at", "known_at", query.as_of),
            (_TAGGED, "tags", [name_key(tag) for tag in query.tags]),
            (_ABOUT, "subject", None if query.subject is None else name_key(query.subject)),
            (_OF_CATEGORY, "categories", list(query.categories)),
        ]
        given = [one for one in asked if one[2] not in (None, [])]
        conditions = [_STATUS, *(condition for condition, _, _ in given)]
        values: dict[str, Any] = {"statuses": list(query.statuses)}
        if query.statuses == ("archived",):
            as_of = None if query.as_of is None else search.held
            over, asked_of = is_among_over("e", respects=search.respects, held=as_of)
            conditions[0] = f"({_STATUS} OR {over})"  # what nothing holds of counts as archived too
            values |= asked_of
        if "archived" not in query.statuses or query.as_of is not None:
            conditions.append(_ALIVE)
            values["alive_at"] = query.as_of
        return cls(
            conditions="".join(f"\n   AND {condition}" for condition in conditions),
            values=values | {name: value for _, name, value in given},
            is_narrow=search.is_strict or bool(given) or query.statuses != ("active",),
        )

    @property
    def allowed(self) -> str:
        """The common table of the entries that a narrow question lets through."""
        if not self.is_narrow:
            return ""
        return (
            "allowed AS MATERIALIZED (SELECT e.number FROM mnestic.entry AS e "
            f"WHERE {_OWNED.format('e')} {self.conditions}),"
        )

    def within(self, column: str) -> str:
        """The condition that a source looks at nothing else, if there is one."""
        return f"{column} = ANY (ARRAY(SELECT number FROM allowed))" if self.is_narrow else ""


@lru_cache(1000)
def statement_of(written: str) -> TextClause:
    """The statement of a text; taking it apart takes longer than many a search."""
    return text(written)
