"""What an export lists and adds, in Postgres."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from pydantic_core import from_json

from mnestic.memory.canonical import check_json, check_size
from mnestic.memory.forgetting.export_lines import (
    ClaimLine,
    EdgeLine,
    EpisodeLine,
    ExportedState,
    ForgottenLine,
    MessageLine,
    NodeLine,
    Place,
    RecordLine,
    SessionLine,
)
from mnestic.memory.graph.graph import LARGEST_PROPERTIES_BYTES
from mnestic.memory.knowledge.claims import Claim, check_name, name_key
from mnestic.memory.knowledge.resources import Resource
from mnestic.stores.postgres.cursors import (
    check_limit,
    decode_cursor,
    decode_time_cursor,
    encode_cursor,
    read_instant,
)
from mnestic.stores.postgres.jobs.records import check_write
from mnestic.stores.postgres.knowledge.derived_entries import DerivedEntries
from mnestic.stores.postgres.knowledge.fact_reader import claim_of
from mnestic.stores.postgres.queries import NamedQuery, as_json, packed, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST_MESSAGES = read_query("exports.list_messages")
_LIST_CLAIMS, _CLAIMS_FROM = read_query("exports.list_claims"), read_query("exports.claims_from")
_LIST_SESSIONS = read_query("exports.list_sessions")
_PLACES = (read_query("exports.places_of_entries"), read_query("exports.places_of_archived"))
_ADD_MESSAGES, _ADD_STATES = read_query("exports.add_messages"), read_query("exports.add_states")
_LIST_EPISODES = read_query("exports.list_episodes")
_ADD_RECORD, _ADD_EPISODE = read_query("exports.add_record"), read_query("exports.add_episode")
_LIST_NODES, _LIST_EDGES = read_query("exports.list_nodes"), read_query("exports.list_edges")
_ADD_NODE, _ADD_EDGE = read_query("exports.add_node"), read_query("exports.add_edge")
_STATE = tuple(name for name in ExportedState.model_fields if name != "message_kind")
Version = TypeVar("Version", NodeLine, EdgeLine)
# Of a message that was forgotten nothing is said, and nothing is learned.
_FORGOTTEN = {"speaker": "", "channel": "", "content": "", "offset_minutes": 0}
_NOT_LEARNED = ExportedState(state="dropped")


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
        after, at, after_source = (None,) * 3 if cursor is None else decode_cursor(cursor, parts=3)
        rows = await self._unit.fetch(
            _LIST_MESSAGES,
            after=after,
            after_at=None if at is None else read_instant(at),
            after_source=after_source,
            limit=check_limit(limit) + 1,
        )
        claims = await self._claims_from([(row.session_id, row.source_id) for row in rows[:limit]])
        lines = tuple(_message(row, claims) for row in rows[:limit])
        if len(rows) <= limit:
            return lines, None
        last = rows[limit - 1]
        return lines, encode_cursor(last.session_id, last.at.isoformat(), last.source_id)

    async def list_claims(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[ClaimLine, ...], str | None]:
        """See the port."""
        after, predicate, claim_id = (
            (None,) * 3 if cursor is None else decode_cursor(cursor, parts=3)
        )
        rows = await self._unit.fetch(
            _LIST_CLAIMS,
            after=after,
            after_predicate=predicate,
            after_id=claim_id,
            limit=check_limit(limit) + 1,
        )
        claims = tuple(ClaimLine(claim=claim_of(row), readers=row.readers) for row in rows[:limit])
        if len(rows) <= limit:
            return claims, None
        last = rows[limit - 1]
        return claims, encode_cursor(last.subject_key, last.predicate, last.id)

    async def list_episodes(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[EpisodeLine, ...], str | None]:
        """See the port."""
        before, before_id = decode_time_cursor(cursor) if cursor is not None else (None, None)
        rows = await self._unit.fetch(
            _LIST_EPISODES, before=before, before_id=before_id, limit=check_limit(limit) + 1
        )
        lines = tuple(EpisodeLine.model_validate(row, from_attributes=True) for row in rows[:limit])
        if len(rows) <= limit:
            return lines, None
        last = rows[limit - 1]
        return lines, encode_cursor(last.created_at.isoformat(), last.id)

    async def _claims_from(self, places: Sequence[Place]) -> Mapping[Place, list[Claim]]:
        """What messages claim, by message."""
        found: dict[Place, list[Claim]] = defaultdict(list)
        sessions, sources = [one for one, _ in places], [one for _, one in places]
        for row in await self._unit.fetch(_CLAIMS_FROM, sessions=sessions, sources=sources):
            found[row.session_id, row.source_id].append(claim_of(row))
        return found

    async def list_sessions(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[SessionLine, ...], str | None]:
        """See the port."""
        (after,) = (None,) if cursor is None else decode_cursor(cursor, parts=1)
        rows = await self._unit.fetch(_LIST_SESSIONS, after=after, limit=check_limit(limit) + 1)
        lines = tuple(
            SessionLine(session_id=row.session_id, state=from_json(row.state))
            for row in rows[:limit]
        )
        return lines, encode_cursor(lines[-1].session_id) if len(rows) > limit else None

    async def list_nodes(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[NodeLine, ...], str | None]:
        """See the port."""
        return await self._list_versions(_LIST_NODES, NodeLine, limit=limit, cursor=cursor)

    async def list_edges(
        self, *, limit: int, cursor: str | None = None
    ) -> tuple[tuple[EdgeLine, ...], str | None]:
        """See the port."""
        return await self._list_versions(_LIST_EDGES, EdgeLine, limit=limit, cursor=cursor)

    async def _list_versions(
        self, query: NamedQuery, line: type[Version], *, limit: int, cursor: str | None
    ) -> tuple[tuple[Version, ...], str | None]:
        after, after_id = (None, None) if cursor is None else decode_time_cursor(cursor)
        rows = await self._unit.fetch(
            query, after=after, after_id=after_id, limit=check_limit(limit) + 1
        )
        columns = [row._asdict() for row in rows[:limit]]
        places = [(one["valid_from"].isoformat(), one.pop("place")) for one in columns]
        lines = tuple(read_stored(line, one, what="part of the graph") for one in columns)
        return lines, encode_cursor(*places[-1]) if len(rows) > limit else None

    async def select_places(self, entry_ids: Collection[str]) -> dict[str, Place]:
        """See the port."""
        if not entry_ids:
            return {}
        places: dict[str, Place] = {}
        for query in _PLACES:
            rows = await self._unit.fetch(query, ids=sorted(entry_ids))
            places |= {row.id: (row.session_id, row.source_id) for row in rows}
        return places

    async def add_messages(self, lines: Sequence[MessageLine | ForgottenLine]) -> frozenset[Place]:
        """See the port."""
        if not lines:
            return frozenset()
        parameters = packed(
            self._unit.owner, [_resource_row(line) for line in lines], what="messages"
        )
        rows = await self._unit.fetch(_ADD_MESSAGES, **parameters)
        new = frozenset((row.session_id, row.source_id) for row in rows)
        states = {
            line.place: state
            for line in reversed(lines)  # of a message that is there twice the first is added
            if line.place in new and (state := _state_row(line)) is not None
        }
        if states:
            parameters = packed(self._unit.owner, [*states.values()][::-1], what="messages")
            await self._unit.write(_ADD_STATES, **parameters)
        if new:
            self._unit.wrote("resource.append", min(new)[0])
        return new

    async def add_record(self, record: RecordLine) -> bool:
        """See the port."""
        check_write(record.namespace, record.key, record.value)
        check_json(record.metadata, what="metadata")
        values = record.model_dump(exclude={"kind"})
        values |= {"value": as_json(record.value), "metadata": as_json(record.metadata)}
        added = await self._unit.write(_ADD_RECORD, **values)
        if added:
            self._unit.wrote("record.set", f"{record.namespace}/{record.key}")
        return bool(added)

    async def add_node(self, node: NodeLine) -> bool:
        """See the port."""
        return await self._add_version(_ADD_NODE, node, key=node.id)

    async def add_edge(self, edge_id: str, edge: EdgeLine) -> bool:
        """See the port."""
        keys = {"source_key": edge.source, "target_key": edge.target}
        return await self._add_version(_ADD_EDGE, edge, edge_id=edge_id, **keys)

    async def _add_version(
        self,
        query: NamedQuery,
        line: NodeLine | EdgeLine,
        *,
        edge_id: str | None = None,
        **names: str,
    ) -> bool:
        """Adds a version of a node or an edge, by the keys of names."""
        check_size(line.properties, what="properties", limit_bytes=LARGEST_PROPERTIES_BYTES)
        keys = {key: name_key(check_name(name, what=line.kind)) for key, name in names.items()}
        values = line.model_dump(exclude={"kind"}) | {"properties": as_json(line.properties)}
        added = await self._unit.write(query, edge_id=edge_id, **values, **keys)
        if added:
            self._unit.wrote("graph.put", "/".join(keys.values()))
            self._unit.changed_graph()
        return bool(added)

    async def add_episode(self, episode_id: str, episode: EpisodeLine) -> bool:
        """See the port."""
        check_json([episode.summary, episode.payload], what="episode")
        values = episode.model_dump(exclude={"kind"}) | {"payload": as_json(episode.payload)}
        values["readers"] = None if episode.readers is None else [*episode.readers]
        added = await self._unit.write(_ADD_EPISODE, id=episode_id, said=None, **values)
        if added:
            self._derived.touch_episodes([episode_id])
            self._unit.wrote("episode.append", episode_id)
        return bool(added)


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
