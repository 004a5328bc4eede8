"""Rows of any table that may speak of a topic, in Postgres: how they are walked through and written.

One walk serves all tables; what differs between them is said in `_TABLES`. SQL tells by what the topic's
words begin with which rows may speak of it, and `memory/forgetting/redaction.py` whether they do. Statements that
any of these tables can be in are put together by `psycopg.sql`; all others are in `sql/`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from psycopg import sql

from mnestic.memory.canonical import canonical_json
from mnestic.memory.forgetting.ports import ScannedPage, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.forgetting.topics import NameSigns, Topic
from mnestic.stores.postgres.jobs.tables import (
    DocumentRow,
    EpisodeRow,
    JobReadRow,
    PlanRow,
    RecordRow,
    SnapshotRow,
    ToolResultRow,
    WaitRow,
    WorkingMemoryRow,
)
from mnestic.stores.postgres.knowledge.tables import (
    ArchivedEntryRow,
    CategoryRow,
    ClaimRow,
    EntryRow,
    EventRow,
    FactRow,
    GraphEdgeRow,
    GraphNodeRow,
    IngestStateRow,
    PredicateRow,
    ResourceRow,
    SummaryRow,
)
from mnestic.stores.postgres.queries import NamedQuery, as_json, read_query
from mnestic.stores.postgres.retrieval.tables import MemoryRetrievalRow, SettingRow
from mnestic.stores.postgres.sharing.tables import ChannelEventRow, LeaseRow
from mnestic.stores.postgres.tables import (
    AuditRow,
    OperationRow,
    Table,
)
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_REDACT_SNAPSHOT = read_query("redaction.redact_snapshot")
_REDACT_CHANNEL = read_query("redaction.redact_channel")
_REDACT_AUDIT = read_query("redaction.redact_audit")
_WRITE_SESSION = read_query("redaction.write_session")
_WRITE_RECORD = read_query("redaction.write_record")
_REMOVE_RECORD = read_query("redaction.remove_record")
_WRITE_ARCHIVED = read_query("redaction.write_archived")
_ROWS, _DOCUMENTS = 500, 20  # a page; documents may have megabytes each


@dataclass(frozen=True, kw_only=True)
class _ScannedTable:
    """How rows of a table are read: `texts` are columns that may hold words, `copies` also whole texts of entries.

    Of a row that is one JSON document, `members` are those of its members that may. Columns that are `emptied` are
    set to null by any redaction. Rows that are locked are those that the
    application itself may write. `rows` are a table's with what belongs to them.
    """

    of: type[Table]
    key: tuple[str, ...]
    texts: tuple[str, ...]
    members: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    copies: bool = False
    locked: bool = False
    page: int = _ROWS
    rows: sql.SQL | None = None


# Documents with the contents of their parts.
_WITH_CONTENTS = sql.SQL(
    "(SELECT d.*, (SELECT string_agg(e.content, '' ORDER BY p.place)"
    " FROM unnest(d.numbers) WITH ORDINALITY AS p (number, place)"
    " CROSS JOIN LATERAL (SELECT content FROM mnestic.entry WHERE tenant_id = d.tenant_id"
    " AND agent_id = d.agent_id || '/' || d.collection_id AND number = p.number OFFSET 0) AS e)"
    " AS content FROM mnestic.document AS d)"
)
_OF_ENTRY = (
    *("content", "summary", "speaker", "channel"),
    *("subjects", "keywords", "tags", "aliases"),
)
_TABLES: Mapping[str, _ScannedTable] = MappingProxyType(
    {
        "working_memory": _ScannedTable(
            of=WorkingMemoryRow,
            key=("session_id",),
            texts=("state",),
            copies=True,
            locked=True,
            page=_DOCUMENTS,
        ),
        "memory_snapshot": _ScannedTable(
            of=SnapshotRow, key=("id",), texts=("body",), copies=True, page=_DOCUMENTS
        ),
        "job_wait": _ScannedTable(
            of=WaitRow,
            key=("wait_id",),
            texts=("key", "context", "outcomes", "ask", "form", "receipt", "event_where", "fact"),
            copies=True,
            locked=True,
        ),
        "channel_event": _ScannedTable(
            of=ChannelEventRow, key=("number",), texts=("payload",), copies=True, locked=True
        ),
        "graph_node": _ScannedTable(
            of=GraphNodeRow,
            key=("key", "valid_from"),
            texts=("id", "properties"),
            copies=True,
            locked=True,
        ),
        "graph_edge": _ScannedTable(
            of=GraphEdgeRow,
            key=("id",),
            texts=("source", "target", "properties"),
            copies=True,
            locked=True,
        ),
        "job_read": _ScannedTable(
            of=JobReadRow,
            key=("job_id", "namespace", "key"),
            texts=("namespace", "key", "value"),
            copies=True,
            locked=True,
        ),
        "tool_result": _ScannedTable(
            of=ToolResultRow, key=("id",), texts=("body",), copies=True, page=_DOCUMENTS
        ),
        "operation": _ScannedTable(
            of=OperationRow, key=("key",), texts=("result",), copies=True, locked=True
        ),
        "episode": _ScannedTable(
            of=EpisodeRow, key=("id",), texts=("summary", "payload"), copies=True, locked=True
        ),
        "long_term_record": _ScannedTable(
            of=RecordRow,
            key=("namespace", "key"),
            texts=("namespace", "key", "value", "metadata"),
            copies=True,
            locked=True,
        ),
        "lease": _ScannedTable(
            of=LeaseRow, key=("namespace", "key"), texts=("namespace", "key"), locked=True
        ),
        "memory_retrievals": _ScannedTable(
            of=MemoryRetrievalRow,
            key=("id",),
            texts=("channel", "preview", "memories", "notes", "skipped"),
            copies=True,
            locked=True,
        ),
        "plan": _ScannedTable(of=PlanRow, key=("decision_id",), texts=("document",)),
        "setting": _ScannedTable(of=SettingRow, key=("name",), texts=("name", "value")),
        "document": _ScannedTable(
            of=DocumentRow,
            key=("collection_id", "id"),
            texts=("id", "source", "metadata", "places", "content"),
            copies=True,
            page=_DOCUMENTS,
            rows=_WITH_CONTENTS,
        ),
        "predicate": _ScannedTable(of=PredicateRow, key=("name",), texts=("name",)),
        "resource": _ScannedTable(
            of=ResourceRow, key=("session_id", "source_id"), texts=("content", "speaker", "channel")
        ),
        "entry": _ScannedTable(of=EntryRow, key=("id",), texts=_OF_ENTRY),
        "archived_entry": _ScannedTable(
            of=ArchivedEntryRow, key=("id",), texts=("entry",), members=_OF_ENTRY, locked=True
        ),
        "ingest_state": _ScannedTable(
            of=IngestStateRow,
            key=("session_id", "source_id"),
            texts=("extracted", "reason"),
            emptied=("context",),  # so that what is forgotten is not extracted again
            locked=True,
        ),
        "claim": _ScannedTable(of=ClaimRow, key=("id",), texts=("subject", "predicate", "object")),
        "fact": _ScannedTable(of=FactRow, key=("id",), texts=("subject", "predicate", "object")),
        "category": _ScannedTable(of=CategoryRow, key=("name",), texts=("summary",), locked=True),
        "summary": _ScannedTable(
            of=SummaryRow, key=("level", "starts_at", "session_id"), texts=("text",)
        ),
        "memory_event": _ScannedTable(
            of=EventRow, key=("number",), texts=("subject", "predicate"), locked=True
        ),
        "audit_log": _ScannedTable(of=AuditRow, key=("id",), texts=("target", "reason")),
    }
)


# Plans and predicates are of all agents of the tenant; derived entries and edges follow what they were made of.
_OWNED = sql.SQL("t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s")
_MINE = dict.fromkeys(_TABLES, _OWNED) | {
    "plan": sql.SQL("t.tenant_id = %(tenant_id)s"),
    "predicate": sql.SQL("t.tenant_id = %(tenant_id)s"),
    "entry": sql.SQL(
        "t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.kind = 'message'"
    ),
    "graph_edge": sql.SQL(
        "t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.properties IS NOT NULL"
    ),
}


async def next_page(
    unit: UnitOfWork, name: str, topic: Topic, *, after: tuple[Any, ...] | None, lock: bool
) -> ScannedPage:
    """See `mnestic.memory.forgetting.ports.ForgettingStore.page`."""
    source = _TABLES[name]
    also = [one for one in ("job_id", "session_id") if one in source.of.model_fields]
    conditions: list[sql.Composable] = [_MINE[name]]
    values: dict[str, Any] = {}
    if not (source.copies and topic.is_copied):
        signs = [one for one in topic.signs if _is_ascii(one)]
        conditions.append(_may_speak(source, signs, values))
    if after is not None:
        conditions.append(_compared(source, ">"))
        values |= _key(source, after)
    found = sql.SQL(
        "SELECT {columns} FROM {table} AS t WHERE {conditions} ORDER BY {order} LIMIT {page}{lock}"
    ).format(
        columns=_list(dict.fromkeys((*source.key, *source.texts, *also))),
        table=source.rows or sql.Identifier("mnestic", name),
        conditions=sql.SQL(" AND ").join(conditions),
        order=_list(source.key),
        page=source.page,
        lock=sql.SQL(" FOR UPDATE" if lock and source.locked else ""),
    )
    rows = await unit.fetch(NamedQuery.of(found.as_string()), **values)
    read = tuple(_row(name, row._asdict()) for row in rows)
    return ScannedPage(rows=read, after=read[-1].key if len(read) == source.page else None)


async def write_redaction(
    unit: UnitOfWork,
    row: ScannedRow,
    redaction: RowRedaction,
    *,
    forgetting_id: str,
    name_stays: bool,
) -> None:
    """See `mnestic.memory.forgetting.ports.ForgettingStore.redaction`."""
    source = _TABLES[row.table]
    values = {**redaction.values, **dict.fromkeys(source.emptied)}
    key = dict(zip(source.key, row.key, strict=True))
    if row.table == "memory_snapshot":
        body = canonical_json(values["body"])
        await unit.fetch(_REDACT_SNAPSHOT, forgetting=forgetting_id, body=body, **key)
    elif row.table == "audit_log":
        both = {**key, **row.columns, **values}
        await unit.fetch(_REDACT_AUDIT, forgetting=forgetting_id, **both)
    elif row.table == "resource":
        await unit.fetch(_REDACT_CHANNEL, forgetting=forgetting_id, **key, **values)
    elif row.table == "long_term_record":
        is_removed = redaction.remove and not name_stays
        query = _REMOVE_RECORD if is_removed else _WRITE_RECORD
        remaining = {} if redaction.remove else {**row.columns, **values}
        columns = {name: as_json(remaining.get(name)) for name in ("value", "metadata")}
        await unit.write(query, **columns, **key)
    elif redaction.remove:
        await unit.write(_removal(row.table), **_key(source, row.key))
    elif row.table == "working_memory":
        state = canonical_json(values["state"]).decode()
        await unit.write(_WRITE_SESSION, state=state, **key)
    elif source.members:
        await unit.write(_WRITE_ARCHIVED, members=as_json(values), **key)
    else:
        left = as_json(values)
        await unit.write(_change(row.table, values), left=left, **_key(source, row.key))


def _removal(name: str) -> NamedQuery:
    removed = sql.SQL("DELETE FROM {table} AS t WHERE {mine} AND {is_it}").format(
        table=sql.Identifier("mnestic", name),
        mine=_MINE[name],
        is_it=_compared(_TABLES[name], "="),
    )
    return NamedQuery.of(removed.as_string())


def _change(name: str, columns: Iterable[str]) -> NamedQuery:
    """Writes columns of a row; their values travel as JSON, and Postgres reads them by the table's own types."""
    assigned = (sql.SQL("{0} = r.{0}").format(sql.Identifier(one)) for one in columns)
    changed = sql.SQL(
        "UPDATE {table} AS t SET {assigned}"
        " FROM json_populate_record(CAST(NULL AS {table}), CAST({left} AS json)) AS r"
        " WHERE {mine} AND {is_it}"
    ).format(
        table=sql.Identifier("mnestic", name),
        assigned=sql.SQL(", ").join(assigned),
        left=sql.Placeholder("left"),
        mine=_MINE[name],
        is_it=_compared(_TABLES[name], "="),
    )
    return NamedQuery.of(changed.as_string())


def _list(columns: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier("t", one) for one in columns)


def _compared(source: _ScannedTable, how: Literal["=", ">"]) -> sql.Composed:
    """The condition on a row's key; `_key` has the other one among the values of a statement."""
    other = sql.SQL(", ").join(sql.Placeholder(f"key_{one}") for one in source.key)
    return sql.SQL("({}) {} ({})").format(_list(source.key), sql.SQL(how), other)


def _key(source: _ScannedTable, key: tuple[Any, ...]) -> dict[str, Any]:
    return {f"key_{name}": value for name, value in zip(source.key, key, strict=True)}


def _may_speak(
    source: _ScannedTable, names: Iterable[NameSigns], values: dict[str, Any]
) -> sql.Composed:
    """Rows that may have a name of the topic, and those that are not ASCII: SQL folds them otherwise.

    A row has all that a text has in which the name stands; `values` gets what that is.
    """
    if source.of.model_fields[source.texts[0]].annotation is bytes:
        texts = sql.SQL("encode({}, 'escape')").format(_list(source.texts))
        is_other = sql.SQL(r"{} ~ '\\[0-7]{{3}}'").format(texts)
    else:
        columns = (
            sql.SQL("CAST({} AS text)").format(sql.Identifier("t", one)) for one in source.texts
        )
        texts = sql.SQL("concat_ws(' ', {})").format(sql.SQL(", ").join(columns))
        is_other = sql.SQL("octet_length({0}) <> length({0})").format(texts)
    folded = sql.SQL("lower({})").format(texts)
    joined = sql.SQL("regexp_replace({}, '[^a-z0-9]+', '', 'g')").format(folded)

    def has(text: sql.Composed, sign: str) -> sql.Composed:
        name = f"sign_{len(values)}"
        values[name] = sign
        return sql.SQL("strpos({}, {}) > 0").format(text, sql.Placeholder(name))

    either = [is_other]
    for signs in names:
        both = [has(folded, one) for one in signs.beginnings] + [
            has(joined, one) for one in signs.cores
        ]
        either.append(sql.SQL(" AND ").join(both))
    return sql.SQL("({})").format(sql.SQL(" OR ").join(either))


def _is_ascii(signs: NameSigns) -> bool:
    return all(beginning.isascii() for beginning in signs.beginnings)


def _row(table: str, columns: Mapping[Any, Any]) -> ScannedRow:
    source = _TABLES[table]
    texts = {name: columns[name] for name in source.texts}
    for name, value in texts.items():
        if isinstance(value, bytes):
            texts[name] = _document(value)
    if source.members:
        (document,) = texts.values()
        texts = {name: document.get(name) for name in source.members}
    return ScannedRow(
        table=table,
        key=tuple(columns[part] for part in source.key),
        columns=texts,
        job_id=columns.get("job_id"),
        session_id=columns.get("session_id"),
    )


def _document(body: bytes) -> Any:
    """The JSON that bytes hold; of bytes that somebody has damaged, the text that they are."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
