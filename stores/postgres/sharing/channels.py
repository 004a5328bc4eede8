"""Events between agents in Postgres."""

from collections.abc import Sequence
from typing import Any

from mnestic.memory.canonical import check_size
from mnestic.memory.jobs.long_term.backends import RemoteBackend
from mnestic.memory.sharing.events import KEPT_FOR, LARGEST_BYTES, ChannelEvent, check_channel
from mnestic.stores.postgres.cursors import check_limit, check_place
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_PUBLISH, _MATCH = read_query("channels.publish"), read_query("channels.match")
_WAKE, _LIST = read_query("channels.wake"), read_query("channels.list")
_RANGE, _LIST_REDIS = read_query("channels.range"), read_query("channels.list_redis")
_FIND_PLACE, _SAVE_PLACE = read_query("channels.find_place"), read_query("channels.save_place")
_TRIM, _LOCK = read_query("channels.trim"), read_query("channels.lock")


class PostgresChannelStore:
    """Implements `mnestic.memory.sharing.ports.ChannelStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit
        self._events: list[dict[str, Any]] = []

    def publish(
        self, channel: str, allowed: Sequence[str], payload: dict[str, Any], *, event_id: str
    ) -> None:
        """See the port."""
        self._unit.attempt("event.publish", f"{channel}/{event_id}")
        check_channel(allowed, channel, agent_id=self._unit.agent_id)
        check_size(payload, what="event", limit_bytes=LARGEST_BYTES)
        self._events.append({"id": event_id, "channel": channel, "payload": payload})
        self._unit.wrote("event.publish", f"{channel}/{event_id}")
        self._unit.before_commit(self._send)

    async def expect(self, pattern: str, allowed: Sequence[str]) -> None:
        """See the port."""
        self._unit.attempt("event.expect", pattern)
        check_channel(allowed, pattern, agent_id=self._unit.agent_id)
        await self._unit.fetch(_LOCK)
        self._unit.read("event.expect", pattern)

    async def list_events(
        self, pattern: str, allowed: Sequence[str], *, after: int | None = None, limit: int = 100
    ) -> tuple[ChannelEvent, ...]:
        """See the port."""
        self._unit.attempt("event.list", pattern)
        check_channel(allowed, pattern, agent_id=self._unit.agent_id)
        channels = pattern.replace("_", r"\_").replace("*", "%")
        rows = await self._unit.fetch(
            _LIST, channels=channels, after=after, limit=check_limit(limit)
        )
        if after is not None:  # later than the list, so that nothing is trimmed between them unseen
            check_place(after, stored=await self._unit.fetch_one(_RANGE))
        self._unit.read("event.list", pattern)
        return tuple(read_stored(ChannelEvent, row._asdict(), what="event") for row in rows)

    async def last_number(self) -> int:
        """See the port."""
        row = await self._unit.fetch_one(_RANGE)
        return int(row.events) if row else 0

    async def find_place(self, name: str, channel: str) -> int | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_PLACE, name=name, channel=channel)
        self._unit.read("subscription.get", f"{name}/{channel}")
        return None if row is None else int(row.number)

    async def save_place(self, name: str, channel: str, number: int) -> None:
        """See the port."""
        await self._unit.write(_SAVE_PLACE, name=name, channel=channel, number=number)
        self._unit.wrote("subscription.set", f"{name}/{channel}")

    async def _send(self) -> None:
        """Writes the events at the end of the transaction, so that others wait for their numbers as short as can be."""
        events, self._events = self._events, []
        named = self._unit.owner | {"kept_for": KEPT_FOR, "count": len(events)}
        named["events"] = as_json(events)
        queries = (_PUBLISH, _LIST_REDIS, _MATCH, _TRIM, _WAKE)
        rows, backends, *_ = await self._unit.rows_of(*(query.bind(named) for query in queries))
        published = [read_stored(ChannelEvent, row._asdict(), what="event") for row in rows]
        for backend in backends:
            of = RemoteBackend.model_validate(backend._asdict())
            self._unit.announced.append((of, published))
