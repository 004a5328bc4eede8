"""What an export lists and adds, in Postgres."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic_core import from_json
from sqlalchemy import Text, and_, cast, literal, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.canonical import check_json
from mnestic.memory.forgetting.export_lines import (
    EpisodeLine,
    ForgottenLine,
    MessageLine,
    MessageState,
    Place,
    RecordLine,
    SessionLine,
)
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.bulk import insert_rows, packed
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor, read_instant
from mnestic.stores.postgres.jobs.records import check_write
from mnestic.stores.postgres.knowledge.archive import ARCHIVED
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.entry_index import ENTRY
from mnestic.stores.postgres.knowledge.fact_reader import CLAIM, claim_of
from mnestic.stores.postgres.knowledge.ingest_states import INGEST_STATE, RESOURCE
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import EpisodeRow, RecordRow, WorkingMemoryRow, table
from mnestic.stores.postgres.unit_of_work import UnitOfWork, among

EPISODE, RECORD, WORKING = table(EpisodeRow), table(RecordRow), table(WorkingMemoryRow)
_PLACE = ("session_id", "source_id")
_STATE = tuple(name for name in MessageState.model_fields if name != "message_kind")
_ADD_MESSAGES = insert_rows(
    RESOURCE,
    *Resource.model_fields,
    "forgotten_at",
    now=["created_at"],
    returning=_PLACE,
    where_new=True,
)
_ADD_STATES = insert_rows(
    INGEST_STATE, *_PLACE, *_STATE, "kind", now=["updated_at"], where_new=True
)
# Of a message that was forgotten nothing is said, and nothing is learned.
_FORGOTTEN = {"speaker": "", "channel": "", "content": "", "offset_minutes": 0}
_NOT_LEARNED = MessageState(state="dropped")


class PostgresExportStore:
    """Implements `mnestic.memory.forgetting.export_ports.ExportStore`."""

    def __init__(self, unit: UnitOfWork, derived: DerivedEntries) -> None:
        self._unit, self._derived = unit, derived

    def note(self) -> None:
        """See the port."""
        self._unit.read("memory.export", "*")

    async def list_messages(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[MessageLine | ForgottenLine, ...], str | None]:
        """See the port."""
        statement = select(*RESOURCE.c).where(self._unit.owned(RESOURCE))
        if cursor is not None:
            session_id, at, source_id = decode_cursor(cursor, parts=3)
            after = (session_id, read_instant(at), source_id)
            statement = statement.where(tuple_(*_order(RESOURCE.c)) > after)
        statement = statement.order_by(*_order(RESOURCE.c)).limit(check_limit(limit) + 1)
        page = statement.subquery("page")
        keys = ("tenant_id", "agent_id", *_PLACE)
        same = and_(*(INGEST_STATE.c[name] == page.c[name] for name in keys))
        states = [INGEST_STATE.c[name].label(name) for name in (*_STATE, "kind")]
        found = select(*page.c, *states).join_from(page, INGEST_STATE, same, isouter=True)
        rows = await self._unit.rows(found.order_by(*_order(page.c)))
        claims = await self._claims_from([(row.session_id, row.source_id) for row in rows[:limit]])
        lines = tuple(_message(row, claims) for row in rows[:limit])
        if len(rows) <= limit:
            return lines, None
        last = rows[limit - 1]
        return lines, encode_cursor(last.session_id, last.at.isoformat(), last.source_id)

    async def list_claims(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[Claim, ...], str | None]:
        """See the port."""
        order = (CLAIM.c.subject_key, CLAIM.c.predicate, CLAIM.c.id)
        keys = ("tenant_id", "agent_id", *_PLACE)
        message = select(RESOURCE.c.source_id).where(*(RESOURCE.c[k] == CLAIM.c[k] for k in keys))
        statement = select(*CLAIM.c).where(self._unit.owned(CLAIM), ~message.exists())
        if cursor is not None:
            statement = statement.where(tuple_(*order) > decode_cursor(cursor, parts=3))
        rows = await self._unit.rows(statement.order_by(*order).limit(check_limit(limit) + 1))
        claims = tuple(map(claim_of, rows[:limit]))
        if len(rows) <= limit:
            return claims, None
        last = rows[limit - 1]
        return claims, encode_cursor(last.subject_key, last.predicate, last.id)

    async def _claims_from(self, places: Sequence[Place]) -> Mapping[Place, list[Claim]]:
        """What messages claim, by message."""
        found: dict[Place, list[Claim]] = defaultdict(list)
        of_page = among(places, CLAIM.c.session_id, CLAIM.c.source_id)
        statement = select(*CLAIM.c).where(self._unit.owned(CLAIM), of_page).order_by(CLAIM.c.id)
        for row in await self._unit.rows(statement):
            found[row.session_id, row.source_id].append(claim_of(row))
        return found

    async def list_sessions(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[SessionLine, ...], str | None]:
        """See the port."""
        columns = (WORKING.c.session_id, cast(WORKING.c.state, Text).label("state"))
        found = select(*columns).where(self._unit.owned(WORKING), WORKING.c.version > 0)
        if cursor is not None:
            (after,) = decode_cursor(cursor, parts=1)
            found = found.where(WORKING.c.session_id > after)
        found = found.order_by(WORKING.c.session_id).limit(check_limit(limit) + 1)
        rows = await self._unit.rows(found)
        lines = tuple(
            SessionLine(session_id=row.session_id, state=from_json(row.state))
            for row in rows[:limit]
        )
        return lines, encode_cursor(lines[-1].session_id) if len(rows) > limit else None

    async def select_places(self, entry_ids: Collection[str]) -> dict[str, Place]:
        """See the port."""
        if not entry_ids:
            return {}
        places: dict[str, Place] = {}
        for target in (ENTRY, ARCHIVED):
            named = (target.c.session_id.is_not(None), target.c.source_id.is_not(None))
            found = select(target.c.id, target.c.session_id, target.c.source_id).where(
                self._unit.owned(target), target.c.id.in_(sorted(entry_ids)), *named
            )
            rows = await self._unit.rows(found)
            places |= {row.id: (row.session_id, row.source_id) for row in rows}
        return places

    async def add_messages(self, lines: Sequence[MessageLine | ForgottenLine]) -> frozenset[Place]:
        """See the port."""
        if not lines:
            return frozenset()
        parameters = packed(
            self._unit.owner, [_resource_row(line) for line in lines], what="messages"
        )
        rows = await self._unit.rows(_ADD_MESSAGES, parameters)
        new = frozenset((row.session_id, row.source_id) for row in rows)
        states = {
            line.place: state
            for line in reversed(lines)  # of a message that is there twice the first is added
            if line.place in new and (state := _state_row(line)) is not None
        }
        if states:
            await self._unit.run(
                _ADD_STATES,
                packed(self._unit.owner, [*states.values()][::-1], what="messages"),
            )
        if new:
            self._unit.wrote("resource.append", min(new)[0])
        return new

    async def add_record(self, record: RecordLine) -> bool:
        """See the port."""
        check_write(record.namespace, record.key, record.value)
        values = {**self._unit.owner, **record.model_dump(exclude={"kind"})}
        added = await self._unit.run(insert(RECORD).values(**values).on_conflict_do_nothing())
        if added:
            self._unit.wrote("record.set", f"{record.namespace}/{record.key}")
        return bool(added)

    async def add_episode(self, episode_id: str, episode: EpisodeLine) -> bool:
        """See the port."""
        check_json([episode.summary, episode.payload], what="episode")
        fields = episode.model_dump(exclude={"kind"})
        same = select(EPISODE.c.id).where(
            self._unit.owned(EPISODE),
            *(EPISODE.c[name].is_not_distinct_from(value) for name, value in fields.items()),
        )
        values = {**self._unit.owner, "id": episode_id, **fields}
        typed = [literal(value, EPISODE.c[name].type) for name, value in values.items()]
        copy = insert(EPISODE).from_select([*values], select(*typed).where(~same.exists()))
        added = await self._unit.run(copy.on_conflict_do_nothing())
        if added:
            self._derived.touch_episodes([episode_id])
            self._unit.wrote("episode.append", episode_id)
        return bool(added)


def _order(columns: Any) -> tuple[Any, ...]:
    """Columns of messages by which they are ordered, as the index has them."""
    return (columns.session_id, columns.at, columns.source_id.collate("C"))


def _message(row: Any, claims: Mapping[Place, list[Claim]]) -> MessageLine | ForgottenLine:
    columns = row._asdict()
    what = f"message {row.session_id}/{row.source_id}"
    if row.forgotten_at is not None:
        names = ForgottenLine.model_fields.keys() - {"kind"}
        return read_stored(ForgottenLine, {name: columns[name] for name in names}, what=what)
    state = None
    if row.state is not None:
        columns["extracted"] = row.extracted or ()
        state = {name: columns[name] for name in _STATE} | {"message_kind": row.kind}
    message = Resource.model_validate(row, from_attributes=True)
    return read_stored(
        MessageLine,
        {"message": message, "ingest": state, "claims": claims.get(message.place, ())},
        what=what,
    )


def _resource_row(line: MessageLine | ForgottenLine) -> dict[str, Any]:
    if isinstance(line, ForgottenLine):
        return {**line.model_dump(exclude={"kind"}), **_FORGOTTEN}
    return {**line.message.model_dump(), "forgotten_at": None}


def _state_row(line: MessageLine | ForgottenLine) -> dict[str, Any] | None:
    state = _NOT_LEARNED if isinstance(line, ForgottenLine) else line.ingest
    if state is None:
        return None
    session_id, source_id = line.place
    row = state.model_dump(exclude={"message_kind"})
    return {**row, "kind": state.message_kind, "session_id": session_id, "source_id": source_id}
