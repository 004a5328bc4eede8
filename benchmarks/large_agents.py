"""Large memories without hours of ingestion: an agent whose memory is that of another, many times over.

Each copy is of other people in other sessions, so that names, facts and claims grow with the number of entries, as messages and
words do. All copies are of the same days, so that agents of any size have the same share of old entries.
"""

from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.statements import read_statements

_STATEMENTS = read_statements(Path(__file__).with_suffix(".sql"))
_ID = "md5({} || '/' || n)::uuid::text"
_IDS = "COALESCE((SELECT jsonb_agg(md5(x || '/' || n)::uuid::text ORDER BY o) FROM jsonb_array_elements_text(t.{}) WITH ORDINALITY AS _ (x, o)), '[]')"
_NAMES = "COALESCE((SELECT jsonb_agg(x || ' ' || n ORDER BY o) FROM jsonb_array_elements_text(t.{}) WITH ORDINALITY AS _ (x, o)), '[]')"
_NUMBER = "t.{} + n * 100000000"  # more than a base has; numbers are an agent's own
# By table, what other columns than tenant and agent have instead of the base's value; `n` is the number of the copy.
_CHANGED: dict[str, dict[str, str]] = {
    "resource": {"session_id": "t.session_id || '-' || n", "speaker": "t.speaker || ' ' || n"},
    "ingest_state": {
        "session_id": "t.session_id || '-' || n",
        "number": _NUMBER.format("number"),
    },
    "entry": {
        "id": _ID.format("t.id"),
        "number": _NUMBER.format("number"),
        "session_id": "t.session_id || '-' || n",
        "speaker": "t.speaker || ' ' || n",
        "subjects": _NAMES.format("subjects"),
        "related": _IDS.format("related"),
        "parent": _ID.format("t.parent"),
        "importance": "0.5",  # of long ago: none is what it would be now
        "last_accessed": "CASE WHEN t.number %% 10 = 0 THEN now() - interval '1 hour' END",
    },
    "entry_term": {
        "term": "CASE t.kind WHEN 'subject' THEN t.term || ' ' || n WHEN 'related' THEN "
        + _ID.format("t.term")
        + " ELSE t.term END",
        "entry_number": _NUMBER.format("entry_number"),
    },
    "posting": {
        "first_number": _NUMBER.format("first_number"),
        "postings": "ARRAY(SELECT one + ((n * 100000000) << 28) FROM unnest(t.postings) AS one)",
    },
    "embedding": {"entry_number": _NUMBER.format("entry_number")},
    "claim": {
        "id": _ID.format("t.id"),
        "subject": "t.subject || ' ' || n",
        "subject_key": "t.subject_key || ' ' || n",
        "source": "t.source || jsonb_build_object('session_id', t.session_id || '-' || n)",
    },
    "fact": {
        "id": _ID.format("t.id"),
        "subject": "t.subject || ' ' || n",
        "subject_key": "t.subject_key || ' ' || n",
        "claims": _IDS.format("claims"),
        "supersedes": _ID.format("t.supersedes"),
        "superseded_by": _ID.format("t.superseded_by"),
    },
}
_COUNTS = ("count_corpus", "count_vectors", "copy_revision", "skip_numbers")


async def multiply(
    connection: psycopg.AsyncConnection, *, agent: str, of: str, to: str, copies: int
) -> None:
    """Gives an agent of the same name in another tenant so many copies of a memory, and has the tables vacuumed and analysed.

    Args:
        connection: Of the schema's owner, past row-level security; commits by itself.
        agent: The agent.
        of: The tenant that has its memory.
        to: The tenant that gets the copies.
        copies: How many.
    """
    values = {"agent": agent, "of": of, "to": to, "copies": copies}
    async with connection.transaction():
        for table, changed in _CHANGED.items():
            found = await (
                await connection.execute(_STATEMENTS["list_columns"], [table])
            ).fetchall()
            names = [name for (name,) in found]
            copy = sql.SQL(_STATEMENTS["copy_rows"]).format(
                table=sql.Identifier(table),
                columns=sql.SQL(", ").join(map(sql.Identifier, names)),
                selected=sql.SQL(", ").join(_selected(name, changed) for name in names),
            )
            await connection.execute(copy, values)
        for count in _COUNTS:
            await connection.execute(_STATEMENTS[count], values)
    await connection.execute("VACUUM ANALYZE")  # as autovacuum does, minutes later


def _selected(name: str, changed: dict[str, str]) -> sql.Composable:
    if name in changed:
        return sql.SQL(changed[name])
    return sql.SQL("t.{}").format(sql.Identifier(name))
