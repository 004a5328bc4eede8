"""Rows of any table that may speak of a topic, in Postgres: how they are walked through and written.

One walk serves all tables; what differs between them is said in `_HELD`. SQL tells by what the topic's
words begin with which rows may speak of it, and `memory/forgetting/redaction.py` whether they do.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    JSON,
    LargeBinary,
    Text,
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

from mnestic.memory.canonical import canonical_json
from mnestic.memory.forgetting.ports import ScannedPage, ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.forgetting.topics import Topic
from mnestic.stores.postgres.jobs.episodes import EPISODE
from mnestic.stores.postgres.jobs.plans import PLAN
from mnestic.stores.postgres.jobs.records import READ, RECORD
from mnestic.stores.postgres.jobs.snapshots import SNAPSHOT
from mnestic.stores.postgres.jobs.tool_results import RESULT
from mnestic.stores.postgres.jobs.waits import WAIT
from mnestic.stores.postgres.jobs.working_memory import WORKING
from mnestic.stores.postgres.knowledge.beliefs import CLAIM, FACT, PREDICATE
from mnestic.stores.postgres.knowledge.entries import ENTRY
from mnestic.stores.postgres.knowledge.events import EVENT
from mnestic.stores.postgres.knowledge.ingest_states import INGEST_STATE
from mnestic.stores.postgres.knowledge.resources import RESOURCE
from mnestic.stores.postgres.ledger import OPERATION
from mnestic.stores.postgres.retrieval.agent_settings import SETTING
from mnestic.stores.postgres.retrieval.retrieval_log import RETRIEVAL_LOG
from mnestic.stores.postgres.tables import AuditRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_ROWS, _DOCUMENTS = 500, 20  # a page; documents may have megabytes each


@dataclass(frozen=True, kw_only=True)
class _Held:
    """How rows of a table are read: `said` may hold words, `copies` also whole texts of entries.

    Rows that are locked are those that the application itself may write.
    """

    of: Any
    key: tuple[str, ...]
    said: tuple[str, ...]
    copies: bool = False
    locked: bool = False
    page: int = _ROWS


_HELD: Mapping[str, _Held] = MappingProxyType(
    {
        "working_memory": _Held(
            of=WORKING,
            key=("session_id",),
            said=("state",),
            copies=True,
            locked=True,
            page=_DOCUMENTS,
        ),
        "memory_snapshot": _Held(
            of=SNAPSHOT, key=("id",), said=("body",), copies=True, page=_DOCUMENTS
        ),
        "job_wait": _Held(
            of=WAIT,
            key=("wait_id",),
            said=("key", "context", "outcomes", "ask", "form", "receipt"),
            copies=True,
            locked=True,
        ),
        "job_read": _Held(
            of=READ,
            key=("job_id", "namespace", "key"),
            said=("namespace", "key", "value"),
            copies=True,
            locked=True,
        ),
        "tool_result": _Held(of=RESULT, key=("id",), said=("body",), copies=True, page=_DOCUMENTS),
        "operation": _Held(of=OPERATION, key=("key",), said=("result",), copies=True, locked=True),
        "episode": _Held(
            of=EPISODE, key=("id",), said=("summary", "payload"), copies=True, locked=True
        ),
        "long_term_record": _Held(
            of=RECORD,
            key=("namespace", "key"),
            said=("namespace", "key", "value"),
            copies=True,
            locked=True,
        ),
        "memory_retrievals": _Held(
            of=RETRIEVAL_LOG,
            key=("id",),
            said=("channel", "preview", "memories", "notes", "skipped"),
            copies=True,
            locked=True,
        ),
        "plan": _Held(of=PLAN, key=("decision_id",), said=("document",)),
        "setting": _Held(of=SETTING, key=("name",), said=("name", "value")),
        "predicate": _Held(of=PREDICATE, key=("name",), said=("name",)),
        "resource": _Held(
            of=RESOURCE, key=("session_id", "source_id"), said=("content", "speaker", "channel")
        ),
        "entry": _Held(
            of=ENTRY,
            key=("id",),
            said=(
                *("content", "summary", "speaker", "channel"),
                *("subjects", "keywords", "tags", "aliases"),
            ),
        ),
        "ingest_state": _Held(
            of=INGEST_STATE,
            key=("session_id", "source_id"),
            said=("extracted", "reason"),
            locked=True,
        ),
        "claim": _Held(of=CLAIM, key=("id",), said=("subject", "predicate", "object")),
        "fact": _Held(of=FACT, key=("id",), said=("subject", "predicate", "object")),
        "memory_event": _Held(
            of=EVENT, key=("number",), said=("subject", "predicate"), locked=True
        ),
        "audit_log": _Held(of=table(AuditRow), key=("id",), said=("target", "reason")),
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
    held = _HELD[name]
    columns = held.of.c
    also = [column for column in ("job_id", "session_id") if column in columns]
    names = dict.fromkeys((*held.key, *held.said, *also))
    key = tuple_(*(columns[part] for part in held.key))
    found = select(*(columns[one] for one in names)).where(_mine(unit, held))
    if not (held.copies and topic.is_copied):
        found = found.where(_may_speak(held, topic))
    if after is not None:
        found = found.where(key > after)
    found = found.order_by(*(columns[part] for part in held.key)).limit(held.page)
    rows = await unit.rows(found.with_for_update() if lock and held.locked else found)
    read = tuple(_row(name, row._mapping) for row in rows)  # noqa: SLF001
    return ScannedPage(rows=read, after=read[-1].key if len(read) == held.page else None)


async def write_redaction(
    unit: UnitOfWork,
    row: ScannedRow,
    redaction: RowRedaction,
    *,
    forgetting_id: str,
    name_stays: bool,
) -> None:
    """See `mnestic.memory.forgetting.ports.ForgettingStore.redaction`."""
    held = _HELD[row.table]
    values = dict(redaction.values)
    asked = {"forgetting": forgetting_id, "agent_id": unit.agent_id, "id": row.key[0]}
    if row.table == "memory_snapshot":
        await unit.rows(_REDACT_SNAPSHOT, {**asked, "body": canonical_json(values["body"])})
    elif row.table == "audit_log":
        await unit.rows(_REDACT_AUDIT, {**asked, **row.columns, **values})
    elif row.table == "resource":
        place = dict(zip(held.key, row.key, strict=True))
        await unit.rows(_REDACT_CHANNEL, {**asked, **place, **values})
    elif row.table == "long_term_record":
        await _write_record(unit, row, redaction, name_stays=name_stays)
    elif redaction.remove:
        await unit.run(delete(held.of).where(_is(unit, held, row)))
    else:
        if row.table == "working_memory":
            state = canonical_json(values["state"]).decode()
            written = cast(literal(state, Text), JSON)  # to the byte, as a snapshot takes it
            values = {"state": written, "version": WORKING.c.version + 1}
            values["updated_at"] = func.now()
        await unit.run(update(held.of).where(_is(unit, held, row)).values(values))


async def _write_record(
    unit: UnitOfWork, row: ScannedRow, redaction: RowRedaction, *, name_stays: bool
) -> None:
    here = _is(unit, _HELD["long_term_record"], row)
    if redaction.remove and not name_stays:
        await unit.run(delete(RECORD).where(here))
        return
    value = None if redaction.remove else redaction.values["value"]
    raised = {"version": RECORD.c.version + 1, "updated_at": func.now()}
    await unit.run(update(RECORD).where(here).values(value=value, **raised))


def _mine(unit: UnitOfWork, held: _Held) -> Any:
    """Plans and predicates are of all agents of the tenant."""
    if "agent_id" in held.of.c:
        return unit.owned(held.of)
    return held.of.c.tenant_id == unit.tenant_id


def _is(unit: UnitOfWork, held: _Held, row: ScannedRow) -> Any:
    key = tuple_(*(held.of.c[part] for part in held.key))
    return _mine(unit, held) & (key == row.key)


def _may_speak(held: _Held, topic: Topic) -> Any:
    """Rows with all beginnings, and those that are not ASCII: SQL folds them otherwise."""
    columns = [held.of.c[name] for name in held.said]
    if any(isinstance(column.type, LargeBinary) for column in columns):
        (body,) = columns
        said: Any = func.encode(body, "escape")
        is_other: Any = said.regexp_match(r"\\[0-7]{3}")
    else:
        said = func.concat_ws(" ", *(cast(column, Text) for column in columns))
        is_other = func.octet_length(said) != func.length(said)
    beginnings = [beginning for beginning in topic.beginnings if beginning.isascii()]
    has_all = [func.strpos(func.lower(said), beginning) > 0 for beginning in beginnings]
    if len(beginnings) < len(topic.beginnings):
        return is_other
    return or_(is_other, *[has_all[0]] if len(has_all) == 1 else [_all(has_all)])


def _all(conditions: Sequence[Any]) -> Any:
    first, *others = conditions
    for other in others:
        first = first & other
    return first


def _row(table: str, columns: Mapping[Any, Any]) -> ScannedRow:
    held = _HELD[table]
    said = {name: columns[name] for name in held.said}
    for name, value in said.items():
        if isinstance(value, bytes):
            said[name] = _document(value)
    return ScannedRow(
        table=table,
        key=tuple(columns[part] for part in held.key),
        columns=said,
        job_id=columns.get("job_id"),
        session_id=columns.get("session_id"),
    )


def _document(body: bytes) -> Any:
    """The JSON that bytes hold; of bytes that somebody has damaged, the text that they are."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
