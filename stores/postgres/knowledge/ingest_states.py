"""How far it is with learning from each resource, in Postgres."""

from collections.abc import Collection, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from mnestic.memory.knowledge.importance import ImportanceBasis, stored_policy
from mnestic.memory.knowledge.ingestion import (
    NO_EXTRACTOR,
    IncomingMessage,
    IngestCounts,
    IngestState,
    ReceivedMessages,
)
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.cursors import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.queries import packed, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_BEGUN = {"kind", "entry_type", "job_id", "workflow_run", "corrects"}
_RECEIVE, _AROUND = read_query("receive_messages"), read_query("messages_around")
_SELECT, _FIND = read_query("ingest_states.select"), read_query("ingest_states.find")
_LIST, _COUNT = read_query("ingest_states.list_by_state"), read_query("ingest_states.count")
_STORE_EXTRACTED = read_query("ingest_states.store_extracted")
_SET, _LOCK = read_query("ingest_states.set"), read_query("ingest_states.lock")
_LOCK_MESSAGES = read_query("ingest_states.lock_messages")
_PENDING = read_query("ingest_states.find_pending")
_LAST_LEARNED = read_query("ingest_states.find_last_learned")


class PostgresIngestStateStore:
    """Implements `mnestic.memory.knowledge.ports.IngestStateStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def receive(self, messages: Sequence[IncomingMessage]) -> ReceivedMessages:
        """See the port."""
        if not messages:
            return ReceivedMessages()
        rows = [
            {
                "place": place,
                **message.resource.model_dump(exclude={"at"}),
                "at": None if message.is_now else message.resource.at,
                **message.model_dump(include=_BEGUN),
            }
            for place, message in enumerate(messages)
        ]
        begun = await self._unit.fetch(
            _RECEIVE, **packed({}, rows, what="messages", name="messages")
        )
        if not begun:
            return ReceivedMessages()
        new = [row for row in begun if row.content is not None]
        if new:
            self._unit.wrote("resource.append", new[0].session_id)
        self._unit.wrote("learning.begin", f"{len(begun)} messages")
        rest = [row for row in begun if row.content is None]
        stored_before = await self._unit.fetch(_SELECT, **_places(rest)) if rest else ()
        in_order = sorted((*new, *stored_before), key=attrgetter("number"))
        basis = ImportanceBasis(begun[0].updated_at, stored_policy(begun[0].importance_policy))
        return ReceivedMessages(tuple(map(_message, in_order)), basis)

    async def take(
        self, state: IngestState, *, limit: int, until: int | None = None
    ) -> tuple[IncomingMessage, ...]:
        """See the port."""
        rows = await self._unit.fetch(
            _LIST,
            state=state,
            unlearned=True,
            after=None,
            until=until,
            limit=check_limit(limit),
            lock=True,
        )
        return tuple(map(_message, rows))

    async def store_extracted(self, messages: Sequence[IncomingMessage], *, extractor: str) -> None:
        """See the port."""
        if not messages:
            return
        rows = [
            {
                "session_id": message.resource.session_id,
                "source_id": message.resource.source_id,
                "number": message.number,
                "state": "extracted" if message.may_change_facts else "learned",
                "extractor": extractor,
                "extracted": message.extracted,
                "replaces": message.replaces,
                "context": _ranges(message.context),
            }
            for message in messages
        ]
        await self._unit.write(_STORE_EXTRACTED, **packed({}, rows, what="claims"))

    async def lock(self) -> None:
        """See the port."""
        await self._unit.fetch(_LOCK, name="\x1f".join(("ingest", *self._unit.owner.values())))

    async def lock_messages(self, places: Collection[Place]) -> None:
        """See the port."""
        sessions, sources = [one for one, _ in places], [one for _, one in places]
        await self._unit.fetch(_LOCK_MESSAGES, sessions=sessions, sources=sources)

    async def list_around(
        self, messages: Sequence[IncomingMessage], *, before: int = 0, after: int = 0
    ) -> tuple[IncomingMessage, ...]:
        """See the port."""
        if not messages:
            return ()
        places = {"session_id", "source_id", "at"}
        given = [one.resource.model_dump(include=places) for one in messages]
        parameters = packed({}, given, what="messages", name="messages")
        rows = await self._unit.fetch(_AROUND, **parameters, before=before, after=after)
        return tuple(map(_message, rows))

    async def repeat(
        self, messages: Sequence[IncomingMessage], *, state: Literal["received", "extracted"]
    ) -> int:
        """See the port."""
        if not messages:
            return 0
        places = [message.place for message in messages]
        again = await self._set(places, of=("extracted", "learned"), state=state, with_context=True)
        self._unit.wrote("learning.repeat", f"{again} messages")
        return again

    async def mark_learned(self, messages: Sequence[IncomingMessage]) -> None:
        """See the port."""
        places = [message.place for message in messages]
        await self._set(places, of=("extracted",), state="learned")
        self._unit.wrote("learning.learned", f"{len(messages)} messages")

    async def park(self, message: IncomingMessage, *, reason: str) -> None:
        """See the port."""
        open_ones: tuple[IngestState, ...] = ("received", "extracted", "learned")
        await self._set([message.place], of=open_ones, state="parked", reason=reason)
        self._unit.wrote("learning.park", message.name, reason=reason)

    async def retry(self, messages: Sequence[IncomingMessage]) -> int:
        """See the port."""
        again = await self._set([one.place for one in messages], of=("parked",), state=None)
        self._unit.wrote("learning.retry", f"{again} messages")
        return again

    async def drop(self, places: Collection[Place]) -> int:
        """See the port."""
        unlearned: tuple[IngestState, ...] = ("received", "extracted", "parked")
        dropped = await self._set(places, of=unlearned, state="dropped")
        if dropped:
            self._unit.wrote("learning.drop", f"{dropped} messages")
        return dropped

    async def find(
        self, session_id: str, source_id: str, *, lock: bool = False
    ) -> IncomingMessage | None:
        """See the port."""
        row = await self._unit.fetch_one(
            _FIND, session_id=session_id, source_id=source_id, lock=lock or None
        )
        return None if row is None else _message(row)

    async def list_by_state(
        self, state: IngestState, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[IncomingMessage, ...], str | None]:
        """See the port."""
        (after,) = decode_cursor(cursor, parts=1) if cursor is not None else (None,)
        rows = await self._unit.fetch(
            _LIST,
            state=state,
            unlearned=state != "learned" or None,
            after=None if after is None else int(after),
            until=None,
            limit=check_limit(limit) + 1,
            lock=None,
        )
        self._unit.read("learning.list", state)
        messages = tuple(_message(row) for row in rows[:limit])
        more = len(rows) > limit
        return messages, encode_cursor(str(rows[limit - 1].number)) if more else None

    async def count(self) -> IngestCounts:
        """See the port."""
        rows = await self._unit.fetch(_COUNT, no_extractor=NO_EXTRACTOR)
        without = sum(row.unread for row in rows)
        return IngestCounts(**{row.state: row.number for row in rows}, without_extractor=without)

    async def find_last_learned(self) -> datetime | None:
        """See the port."""
        (row,) = await self._unit.fetch(_LAST_LEARNED)
        found: datetime | None = row.at
        return found

    async def is_pending(self) -> bool:
        """See the port."""
        return bool(await self._unit.fetch(_PENDING))

    async def _set(
        self,
        places: Collection[Place],
        *,
        of: Sequence[IngestState],
        state: IngestState | None,
        reason: str | None = None,
        with_context: bool = False,
    ) -> int:
        """Moves messages that are in one of these states to another."""
        return await self._unit.write(
            _SET,
            sessions=[session_id for session_id, _ in places],
            sources=[source_id for _, source_id in places],
            states=[*of],
            state=state,
            reason=reason,
            with_context=with_context or None,
        )


def _places(messages: Sequence[Any]) -> dict[str, list[str]]:
    """The sessions and source ids of messages."""
    return {
        "sessions": [one.session_id for one in messages],
        "sources": [one.source_id for one in messages],
    }


def _ranges(numbers: Sequence[int] | None) -> str | None:
    """Numbers as a multirange, in which those that follow each other take as much as one."""
    return None if numbers is None else f"{{{','.join(f'[{one},{one}]' for one in numbers)}}}"


def _message(row: Any) -> IncomingMessage:
    resource = Resource.model_validate(row, from_attributes=True)
    columns = {**row._asdict(), "resource": resource, "extracted": row.extracted or ()}
    columns["subjects"] = columns.get("subjects") or ()
    if columns.get("context") is not None:
        columns["context"] = [
            number for one in row.context for number in range(one.lower, one.upper)
        ]
    return read_stored(IncomingMessage, columns, what=f"learning {row.session_id}/{row.source_id}")
