"""Calls of one's own that come near to what belongs to another tenant."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.knowledge.entries import Entry
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.security.tenants import AGENT

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def claimed(client: MnesticClient, key: str) -> Any:
    """Whether a key is new to oneself that another has used."""
    return (await client.reserve_request_id(key, request={})).is_new


async def acted_once(client: MnesticClient, key: str) -> Any:
    """An act of one's own, with the key of another's."""

    async def act(request_id: str) -> Entry:  # noqa: ARG001 - it differs for each tenant
        return await client.memory(AGENT).add("Mine.", at=NOON)

    return (await client.act_once(key, request={}, result_type=Entry, act=act)).content


async def extracted(client: MnesticClient) -> Any:
    """What a message of one's own would teach."""
    return (await client.extract(AGENT, "I live in Umea.", speaker="Mara", at=NOON)).model_dump()


async def written_once(client: MnesticClient, key: str) -> Any:
    """A write of one's own, with the key of another's."""

    async def work(memory: MemoryClient) -> Entry:
        return await memory.add("Mine.", at=NOON)

    done = await client.write_once(AGENT, key, request={}, result_type=Entry, work=work)
    return done.content
