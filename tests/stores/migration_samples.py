"""Claims and rows that tests of migrations write into an older schema."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql

from mnestic.memory.knowledge.claims import Claim, ClaimSource, Span

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def moved_in(place: str, *, days: int) -> Claim:
    return Claim(
        id=place,
        subject="Mara",
        predicate="lives_in",
        object=place,
        said_at=NOON + timedelta(days=days),
        source=ClaimSource(
            extractor="rules-1", session_id="s", source_id="learned", span=Span(start=0, end=16)
        ),
    )


def insert(connection: psycopg.Connection[Any], table: str, values: dict[str, Any]) -> None:
    """A row of agent ada, with the columns that are named."""
    row = {"tenant_id": "t1", "agent_id": "ada"} | {
        name: json.dumps(value) if isinstance(value, (dict, list)) else value
        for name, value in values.items()
    }
    connection.execute(
        sql.SQL("INSERT INTO mnestic.{} ({}) VALUES ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join(sql.Placeholder() * len(row)),
        ),
        list(row.values()),
    )
