"""How far it is with learning from each resource, in Postgres."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import CTE, ColumnElement, Select, case, func, select, text, true, update

from mnestic.memory.knowledge.importance import ImportanceBasis, stored_policy
from mnestic.memory.knowledge.ingestion import (
    NO_EXTRACTOR,
    IncomingMessage,
    IngestCounts,
    IngestState,
    PendingMessage,
    ReceivedMessages,
)
from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.bulk import packed, update_rows
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.knowledge.ingest_tables import IngestStateRow
from mnestic.stores.postgres.knowledge.tables import EntryRow
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import ResourceRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, among

ENTRY, INGEST_STATE, RESOURCE = table(EntryRow), table(IngestStateRow), table(ResourceRow)
_PLACE = ("session_id", "source_id")
_BEGUN = ("kind", "entry_type", "job_id", "workflow_run", "corrects")
_STEP = ("number", "state", *_BEGUN, "extractor", "extracted", "replaces", "context", "reason")
_RECEIVE = read_query("receive_messages")
_AROUND = read_query("messages_around")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_EXTRACTED = update_rows(
    INGEST_STATE,
    *("state", "extractor", "extracted", "replaces", "context"),
    key=(*_PLACE, "number"),
    now=["updated_at"],
    where="t.state = 'received'",
)


class PostgresIngestStateStore:
    """Implements `mnestic.memory.ports.IngestStateStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def receive(self, messages: Sequence[IncomingMessage]) -> ReceivedMessages:
        """See the port."""
        if not messages:
            return ReceivedMessages()
        rows = [
            {
                "place": place,
                **came.resource.model_dump(exclude={"at"}),
                "at": None if came.is_now else came.resource.at,
                **came.model_dump(include=set(_BEGUN)),
            }
            for place, came in enumerate(messages)
        ]
        parameters = packed(self._unit.owner, rows, what="messages", name="messages")
        (begun,) = await self._unit.rows_of(_RECEIVE.bind(parameters))
        if not begun:
            return ReceivedMessages()
        new = [row for row in begun if row.content is not None]
        if new:
            self._unit.wrote("resource.append", new[0].session_id)
        self._unit.wrote("learning.begin", f"{len(begun)} messages")
        rest = [(row.session_id, row.source_id) for row in begun if row.content is None]
        stored_before = await self._select(rest) if rest else ()
        in_order = sorted((*new, *stored_before), key=attrgetter("number"))
        basis = ImportanceBasis(begun[0].updated_at, stored_policy(begun[0].importance_policy))
        return ReceivedMessages(tuple(map(_lesson, in_order)), basis)

    async def _select(self, places: Sequence[tuple[str, str]]) -> Sequence[Any]:
        """Rows of messages by session and source id, with their resources."""
        found = select(*INGEST_STATE.c).where(
            self._unit.owned(INGEST_STATE),
            among(places, INGEST_STATE.c.session_id, INGEST_STATE.c.source_id),
        )
        return await self._unit.rows(_with_resources(found))

    async def take(
        self, state: IngestState, *, limit: int, until: int | None = None
    ) -> tuple[PendingMessage, ...]:
        """See the port."""
        oldest = self._in_state(state).limit(check_limit(limit)).with_for_update(skip_locked=True)
        if until is not None:
            oldest = oldest.where(INGEST_STATE.c.number <= until)
        return tuple(map(_lesson, await self._unit.rows(_with_resources(oldest))))

    async def store_extracted(self, lessons: Sequence[PendingMessage], *, extractor: str) -> None:
        """See the port."""
        if not lessons:
            return
        rows = [
            {
                "session_id": lesson.resource.session_id,
                "source_id": lesson.resource.source_id,
                "number": lesson.number,
                "state": "extracted" if lesson.may_change_facts else "learned",
                "extractor": extractor,
                "extracted": lesson.extracted,
                "replaces": lesson.replaces,
                "context": lesson.context,
            }
            for lesson in lessons
        ]
        await self._unit.run(_EXTRACTED, packed(self._unit.owner, rows, what="claims"))

    async def lock(self) -> None:
        """See the port."""
        await self._unit.rows(_LOCK, {"name": "\x1f".join(("ingest", *self._unit.owner.values()))})

    async def list_around(
        self, messages: Sequence[PendingMessage], *, before: int = 0, after: int = 0
    ) -> tuple[PendingMessage, ...]:
        """See the port."""
        if not messages:
            return ()
        given = [one.resource.model_dump(include={*_PLACE, "at"}) for one in messages]
        parameters = packed(self._unit.owner, given, what="messages", name="messages")
        (rows,) = await self._unit.rows_of(
            _AROUND.bind({**parameters, "before": before, "after": after})
        )
        return tuple(map(_lesson, rows))

    async def repeat(
        self, lessons: Sequence[PendingMessage], *, state: Literal["received", "extracted"]
    ) -> int:
        """See the port."""
        if not lessons:
            return 0
        known = INGEST_STATE.c.context.is_not(None)
        again = await self._set(lessons, known, of=("extracted", "learned"), state=state)
        self._unit.wrote("learning.repeat", f"{again} messages")
        return again

    async def mark_learned(self, lessons: Sequence[PendingMessage]) -> None:
        """See the port."""
        await self._set(lessons, of=("extracted",), state="learned")
        self._unit.wrote("learning.learned", f"{len(lessons)} messages")

    async def park(self, lesson: PendingMessage, *, reason: str) -> None:
        """See the port."""
        open_ones: tuple[IngestState, ...] = ("received", "extracted", "learned")
        await self._set([lesson], of=open_ones, state="parked", reason=reason)
        self._unit.wrote("learning.park", lesson.name, reason=reason)

    async def retry(self, lessons: Sequence[PendingMessage]) -> int:
        """See the port."""
        was_read = INGEST_STATE.c.extractor.is_not(None)
        state = case((was_read, "extracted"), else_="received")
        again = await self._set(lessons, of=("parked",), state=state, reason=None)
        self._unit.wrote("learning.retry", f"{again} messages")
        return again

    async def drop(self, lessons: Sequence[PendingMessage]) -> int:
        """See the port."""
        unlearned: tuple[IngestState, ...] = ("received", "extracted", "parked")
        dropped = await self._set(lessons, of=unlearned, state="dropped", reason=None)
        self._unit.wrote("learning.drop", f"{dropped} messages")
        return dropped

    async def find(
        self, session_id: str, source_id: str, *, lock: bool = False
    ) -> PendingMessage | None:
        """See the port."""
        found = select(*INGEST_STATE.c).where(
            self._unit.owned(INGEST_STATE),
            INGEST_STATE.c.session_id == session_id,
            INGEST_STATE.c.source_id == source_id,
        )
        row = await self._unit.row(_with_resources(found.with_for_update() if lock else found))
        return None if row is None else _lesson(row)

    async def list_by_state(
        self, state: IngestState, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PendingMessage, ...], str | None]:
        """See the port."""
        found = self._in_state(state).limit(check_limit(limit) + 1)
        if cursor is not None:
            (after,) = decode_cursor(cursor, parts=1)
            found = found.where(INGEST_STATE.c.number > int(after))
        rows = await self._unit.rows(_with_resources(found))
        self._unit.read("learning.list", state)
        lessons = tuple(_lesson(row) for row in rows[:limit])
        more = len(rows) > limit
        return lessons, encode_cursor(str(rows[limit - 1].number)) if more else None

    async def count(self) -> IngestCounts:
        """See the port."""
        rows = await self._unit.rows(
            select(
                INGEST_STATE.c.state,
                func.count().label("number"),
                func.count().filter(INGEST_STATE.c.extractor == NO_EXTRACTOR).label("unread"),
            )
            .where(self._unit.owned(INGEST_STATE))
            .group_by(INGEST_STATE.c.state)
        )
        without = sum(row.unread for row in rows)
        return IngestCounts(**{row.state: row.number for row in rows}, without_extractor=without)

    def _in_state(self, state: IngestState) -> Select[Any]:
        """In their order; the collation is that of the index which is to be used."""
        found = select(*INGEST_STATE.c).where(
            INGEST_STATE.c.tenant_id == self._unit.tenant_id,
            INGEST_STATE.c.agent_id.collate("C") == self._unit.agent_id,
            INGEST_STATE.c.state == state,
        )
        return found.order_by(INGEST_STATE.c.number)

    async def _set(
        self,
        lessons: Sequence[PendingMessage],
        *conditions: ColumnElement[bool],
        of: Sequence[IngestState],
        **values: Any,
    ) -> int:
        """Writes columns of lessons that are in one of these states, where the conditions hold."""
        places = [(one.resource.session_id, one.resource.source_id) for one in lessons]
        statement = update(INGEST_STATE).where(
            self._unit.owned(INGEST_STATE),
            INGEST_STATE.c.state.in_(of),
            among(places, INGEST_STATE.c.session_id, INGEST_STATE.c.source_id),
            *conditions,
        )
        return await self._unit.run(statement.values(updated_at=func.now(), **values))


def _with_resources(found: Select[Any]) -> Select[Any]:
    """Rows of `ingest_state` with their resources and the subjects of their entries, each of which is looked up by its whole key.

    Without `OFFSET 0` Postgres may join all resources of the agent instead.
    """
    step: CTE = found.cte("step")
    keys = ("tenant_id", "agent_id", *_PLACE)
    resources = select(*RESOURCE.c).where(*(RESOURCE.c[name] == step.c[name] for name in keys))
    resource = resources.offset(0).lateral("resource")
    same = (ENTRY.c[name] == resource.c[name] for name in (*keys, "at"))
    of_message = select(ENTRY.c.subjects).where(*same, ENTRY.c.kind == "message").offset(0)
    entry = of_message.lateral("entry")
    rows = select(*resource.c, *(step.c[name] for name in _STEP), entry.c.subjects)
    joined = rows.join_from(step, resource, true()).join(entry, true(), isouter=True)
    return joined.order_by(step.c.number)


def _lesson(row: Any) -> PendingMessage:
    resource = Resource.model_validate(row, from_attributes=True)
    columns = {**row._asdict(), "resource": resource, "extracted": row.extracted or ()}
    return read_stored(PendingMessage, columns, what=f"learning {row.session_id}/{row.source_id}")
