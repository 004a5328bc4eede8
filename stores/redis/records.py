"""Records in Redis: a hash for each, which expires by itself."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import quote

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.jobs.long_term.backends import BackendRecord, RecordPlace
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.stores.backend_answers import answer_of

# Compares and sets at once. Arguments: the version, "1" if the record is removed, when it expires (ms) or nothing, fields.
_WRITE = """
local stored = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
local version = tonumber(ARGV[1])
if stored > version then return stored end
redis.call('DEL', KEYS[1])
if ARGV[2] ~= '1' then
    redis.call('HSET', KEYS[1], 'version', ARGV[1], unpack(ARGV, 4))
    if ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
end
return version
"""


class RedisRecords:
    """Implements `mnestic.memory.jobs.ports.RecordBackend`."""

    def __init__(self, address: str, *, backend_id: str, prefix: str = "") -> None:
        """Prepares the client, which connects with its first use.

        Raises:
            ConfigurationError: the address is malformed.
        """
        self._backend_id, self._prefix = backend_id, prefix
        try:
            self._redis = Redis.from_url(
                address,
                decode_responses=True,
                retry=Retry(NoBackoff(), 1),  # for a connection that the server has closed
            )
        except (ValueError, TypeError):
            why = (
                "its connection_string is malformed; it looks like redis://:${PASSWORD}@host:6379/0"
            )
            raise ConfigurationError(setting=f"backend {backend_id}", why=why) from None

    async def prepare(self) -> None:
        """See the port; only asks whether the server answers."""
        async with self._answer():
            await cast("Any", self._redis.ping())

    async def write(self, records: Sequence[BackendRecord]) -> tuple[int, ...]:
        """See the port."""
        async with self._answer(), self._redis.pipeline(transaction=False) as pipeline:
            for record in records:
                pipeline.eval(_WRITE, 1, self._key(record), *_arguments(record))
            return tuple(map(int, await pipeline.execute()))

    async def find(self, place: RecordPlace) -> BackendRecord | None:
        """See the port."""
        async with self._answer():
            fields = await cast("Any", self._redis.hgetall(self._key(place)))
        if not fields:
            return None
        read = {name: json.loads(fields[name]) for name in ("value", "metadata")}
        return BackendRecord.model_validate(
            {**place.model_dump(include=set(RecordPlace.model_fields)), **fields, **read}
            | {"expires_at": fields["expires_at"] or None}
        )

    async def publish(self, tenant_id: str, events: Sequence[ChannelEvent]) -> None:
        """See `mnestic.memory.sharing.ports.EventBackend`."""
        async with self._answer(), self._redis.pipeline(transaction=False) as pipeline:
            for event in events:
                channel = f"{self._prefix}mnestic:{quote(tenant_id, safe='')}:{event.channel}"
                pipeline.publish(channel, event.model_dump_json())
            await pipeline.execute()

    async def close(self) -> None:
        """See the port."""
        await self._redis.aclose()

    def _key(self, place: RecordPlace) -> str:
        owner = (place.tenant_id, place.agent_id, place.schema_id)
        parts = ":".join(quote(part, safe="") for part in owner)
        return f"{self._prefix}mnestic:{parts}:{place.key}"

    @asynccontextmanager
    async def _answer(self) -> AsyncIterator[None]:
        async with answer_of(self._backend_id, RedisError) as end, asyncio.timeout_at(end):
            yield


def _arguments(record: BackendRecord) -> list[str]:
    expires = record.expires_at
    fields = {
        "value": json.dumps(record.value, ensure_ascii=False),
        "metadata": json.dumps(record.metadata, ensure_ascii=False),
        "updated_at": record.updated_at.isoformat(),
        "expires_at": expires.isoformat() if expires else "",
    }
    return [
        str(record.version),
        "1" if record.value is None else "",
        str(int(expires.timestamp() * 1000)) if expires else "",
        *(text for field in fields.items() for text in field),
    ]
