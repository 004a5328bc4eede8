"""Rows of any table that may speak of a topic, in Postgres: how they are walked through and written.

One walk serves all tables; what differs between them is said in `_TABLES`. SQL tells by what the topic's
words begin with which rows may speak of it, and `memory/forgetting/redaction.py` whether they do.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    JSON,
    LargeBinary,
    Text,
    and_,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from mnestic.memory.canonical import canonical_json
from mnestic.memory.forgetting.ports import ScannedPage, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.forgetting.topics import NameSigns, Topic
from mnestic.stores.postgres.knowledge.archive import ARCHIVED
from mnestic.stores.postgres.knowledge.entry_index import ENTRY
from mnestic.stores.postgres.knowledge.events import EVENT
from mnestic.stores.postgres.knowledge.fact_reader import CLAIM, FACT, PREDICATE
from mnestic.stores.postgres.knowledge.ingest_states import INGEST_STATE
from mnestic.stores.postgres.knowledge.predicate_tables import CategoryRow
from mnestic.stores.postgres.knowledge.resources import RESOURCE
from mnestic.stores.postgres.knowledge.summary_tables import SummaryRow
from mnestic.stores.postgres.retrieval.tables import MemoryRetrievalRow, SettingRow
from mnestic.stores.postgres.tables import (
    AuditRow,
    EpisodeRow,
    JobReadRow,
    OperationRow,
    PlanRow,
    RecordRow,
    SnapshotRow,
    ToolResultRow,
    WaitRow,
    WorkingMemoryRow,
    table,
)
from mnestic.stores.postgres.unit_of_work import UnitOfWork

CATEGORY, SUMMARY, EPISODE = table(CategoryRow), table(SummaryRow), table(EpisodeRow)
PLAN, READ, RECORD = table(PlanRow), table(JobReadRow), table(RecordRow)
SNAPSHOT, RESULT = table(SnapshotRow), table(ToolResultRow)
SETTING, RETRIEVAL_LOG = table(SettingRow), table(MemoryRetrievalRow)
WAIT, WORKING, OPERATION = table(WaitRow), table(WorkingMemoryRow), table(OperationRow)
_ROWS, _DOCUMENTS = 500, 20  # a page; documents may have megabytes each


@dataclass(frozen=True, kw_only=True)
class _ScannedTable:
    """How rows of a table are read: `texts` are columns that may hold words, `copies` also whole texts of entries.

    Of a row that is one JSON document, `members` are those of its members that may. Columns that are `emptied` are
    set to null by any redaction. Rows that are locked are those that the
    application itself may write.
    """

    of: Any
    key: tuple[str, ...]
    texts: tuple[str, ...]
    members: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    copies: bool = False
    locked: bool = False
    page: int = _ROWS


_OF_ENTRY = (
    *("content", "summary", "speaker", "channel"),
    *("subjects", "keywords", "tags", "aliases"),
)
_TABLES: Mapping[str, _ScannedTable] = MappingProxyType(
    {
        "working_memory": _ScannedTable(
            of=WORKING,
            key=("session_id",),
            texts=("state",),
            copies=True,
            locked=True,
            page=_DOCUMENTS,
        ),
        "memory_snapshot": _ScannedTable(
            of=SNAPSHOT, key=("id",), texts=("body",), copies=True, page=_DOCUMENTS
        ),
        "job_wait": _ScannedTable(
            of=WAIT,
            key=("wait_id",),
            texts=("key", "context", "outcomes", "ask", "form", "receipt"),
            copies=True,
            locked=True,
        ),
        "job_read": _ScannedTable(
            of=READ,
            key=("job_id", "namespace", "key"),
            texts=("namespace", "key", "value"),
            copies=True,
            locked=True,
        ),
        "tool_result": _ScannedTable(
            of=RESULT, key=("id",), texts=("body",), copies=True, page=_DOCUMENTS
        ),
        "operation": _ScannedTable(
            of=OPERATION, key=("key",), texts=("result",), copies=True, locked=True
        ),
        "episode": _ScannedTable(
            of=EPISODE, key=("id",), texts=("summary", "payload"), copies=True, locked=True
        ),
        "long_term_record": _ScannedTable(
            of=RECORD,
            key=("namespace", "key"),
            texts=("namespace", "key", "value"),
            copies=True,
            locked=True,
        ),
        "memory_retrievals": _ScannedTable(
            of=RETRIEVAL_LOG,
            key=("id",),
            texts=("channel", "preview", "memories", "notes", "skipped"),
            copies=True,
            locked=True,
        ),
        "plan": _ScannedTable(of=PLAN, key=("decision_id",), texts=("document",)),
        "setting": _ScannedTable(of=SETTING, key=("name",), texts=("name", "value")),
        "predicate": _ScannedTable(of=PREDICATE, key=("name",), texts=("name",)),
        "resource": _ScannedTable(
            of=RESOURCE, key=("session_id", "source_id"), texts=("content", "speaker", "channel")
        ),
        "entry": _ScannedTable(of=ENTRY, key=("id",), texts=_OF_ENTRY),
        "archived_entry": _ScannedTable(
            of=ARCHIVED, key=("id",), texts=("entry",), members=_OF_ENTRY, locked=True
        ),
        "ingest_state": _ScannedTable(
            of=INGEST_STATE,
            key=("session_id", "source_id"),
            texts=("extracted", "reason"),
            emptied=("context",),  # so that what is forgotten is not extracted again
            locked=True,
        ),
        "claim": _ScannedTable(of=CLAIM, key=("id",), texts=("subject", "predicate", "object")),
        "fact": _ScannedTable(of=FACT, key=("id",), texts=("subject", "predicate", "object")),
        "category": _ScannedTable(of=CATEGORY, key=("name",), texts=("summary",), locked=True),
        "summary": _ScannedTable(
            of=SUMMARY, key=("level", "starts_at", "session_id"), texts=("text",)
        ),
        "memory_event": _ScannedTable(
            of=EVENT, key=("number",), texts=("subject", "predicate"), locked=True
        ),
        "audit_log": _ScannedTable(of=table(AuditRow), key=("id",), texts=("target", "reason")),
    }
)
_REDACT_SNAPSHOT = text("SELECT mnestic.redact_snapshot(:forgetting, :agent_id, :id, :body)")
_REDACT_CHANNEL = text(
    "SELECT mnestic.redact_channel(:forgetting, :agent_id, :session_id, :source_id, :channel)"
)
_REDACT_AUDIT = text(
    "SELECT mnestic.redact_audit(:forgetting, :agent_id, :id, :target, CAST(:reason AS text))"
)


async def next_page(
    unit: UnitOfWork, name: str, topic: Topic, *, after: tuple[Any, ...] | None, lock: bool
) -> ScannedPage:
    """See `mnestic.memory.forgetting.ports.ForgettingStore.page`."""
    source = _TABLES[name]
    columns = source.of.c
    also = [column for column in ("job_id", "session_id") if column in columns]
    names = dict.fromkeys((*source.key, *source.texts, *also))
    key = tuple_(*(columns[part] for part in source.key))
    found = select(*(columns[one] for one in names)).where(_mine(unit, source))
    if not (source.copies and topic.is_copied):
        found = found.where(_may_speak(source, topic))
    if after is not None:
        found = found.where(key > after)
    found = found.order_by(*(columns[part] for part in source.key)).limit(source.page)
    rows = await unit.rows(found.with_for_update() if lock and source.locked else found)
    read = tuple(_row(name, row._mapping) for row in rows)  # noqa: SLF001
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
    parameters = {"forgetting": forgetting_id, "agent_id": unit.agent_id, "id": row.key[0]}
    if row.table == "memory_snapshot":
        await unit.rows(_REDACT_SNAPSHOT, {**parameters, "body": canonical_json(values["body"])})
    elif row.table == "audit_log":
        await unit.rows(_REDACT_AUDIT, {**parameters, **row.columns, **values})
    elif row.table == "resource":
        place = dict(zip(source.key, row.key, strict=True))
        await unit.rows(_REDACT_CHANNEL, {**parameters, **place, **values})
    elif row.table == "long_term_record":
        await _write_record(unit, row, redaction, name_stays=name_stays)
    elif redaction.remove:
        await unit.run(delete(source.of).where(_is(unit, source, row)))
    else:
        if row.table == "working_memory":
            state = canonical_json(values["state"]).decode()
            written = cast(literal(state, Text), JSON)  # to the byte, as a snapshot takes it
            values = {"state": written, "version": WORKING.c.version + 1}
            values["updated_at"] = func.now()
        elif source.members:
            values = {"entry": ARCHIVED.c.entry.concat(cast(values, JSONB))}
        await unit.run(update(source.of).where(_is(unit, source, row)).values(values))


async def _write_record(
    unit: UnitOfWork, row: ScannedRow, redaction: RowRedaction, *, name_stays: bool
) -> None:
    here = _is(unit, _TABLES["long_term_record"], row)
    if redaction.remove and not name_stays:
        await unit.run(delete(RECORD).where(here))
        return
    value = None if redaction.remove else redaction.values["value"]
    raised = {"version": RECORD.c.version + 1, "updated_at": func.now()}
    await unit.run(update(RECORD).where(here).values(value=value, **raised))


def _mine(unit: UnitOfWork, source: _ScannedTable) -> Any:
    """Plans and predicates are of all agents of the tenant; derived entries follow what they were made of."""
    if source.of is ENTRY:
        return unit.owned(ENTRY) & (ENTRY.c.kind == "message")
    if "agent_id" in source.of.c:
        return unit.owned(source.of)
    return source.of.c.tenant_id == unit.tenant_id


def _is(unit: UnitOfWork, source: _ScannedTable, row: ScannedRow) -> Any:
    key = tuple_(*(source.of.c[part] for part in source.key))
    return _mine(unit, source) & (key == row.key)


def _may_speak(source: _ScannedTable, topic: Topic) -> Any:
    """Rows that may have a name of the topic, and those that are not ASCII: SQL folds them otherwise."""
    columns = [source.of.c[name] for name in source.texts]
    if any(isinstance(column.type, LargeBinary) for column in columns):
        (body,) = columns
        texts: Any = func.encode(body, "escape")
        is_other: Any = texts.regexp_match(r"\\[0-7]{3}")
    else:
        texts = func.concat_ws(" ", *(cast(column, Text) for column in columns))
        is_other = func.octet_length(texts) != func.length(texts)
    return or_(is_other, *(_has_all(texts, signs) for signs in topic.signs if _is_ascii(signs)))


def _is_ascii(signs: NameSigns) -> bool:
    return all(beginning.isascii() for beginning in signs.beginnings)


def _has_all(texts: Any, signs: NameSigns) -> Any:
    """Rows with all that a text has in which a name stands."""
    folded = func.lower(texts)
    joined = func.regexp_replace(folded, "[^a-z0-9]+", "", "g")
    return and_(
        *(func.strpos(folded, beginning) > 0 for beginning in signs.beginnings),
        *(func.strpos(joined, core) > 0 for core in signs.cores),
    )


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
