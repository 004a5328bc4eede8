"""Events of an agent whose contract has a Redis: those that listen there get them as well, while it answers."""

import json
from typing import Any

import pytest
from redis.asyncio import Redis

from mnestic.memory.errors import AccessDeniedError
from tests.stores.jobs.backends.conftest import Notes


async def publish(notes: Notes, event_id: str, payload: dict[str, Any], *channels: str) -> None:
    async with notes.begin() as transaction:
        for channel in channels or ("news",):
            transaction.channels.publish(channel, ["news"], payload, event_id=event_id)


async def test_an_event_is_published_in_redis_too_once_it_is_stored(notes: Notes) -> None:
    await notes.put_in("REDIS")
    async with Redis.from_url(notes.addresses["REDIS"]) as server, server.pubsub() as listening:
        await listening.psubscribe(f"ours_mnestic:{notes.tenant_id}:*")
        await listening.get_message(timeout=10)

        with pytest.raises(AccessDeniedError):
            await publish(notes, "e0", {"undone": True}, "news", "other")
        await publish(notes, "e1", {"page": "/"})
        message = await listening.get_message(timeout=10)

    assert message["channel"].decode() == f"ours_mnestic:{notes.tenant_id}:news"
    event = json.loads(message["data"])
    assert (event["number"], event["id"], event["payload"]) == (1, "e1", {"page": "/"})
    assert (event["agent_id"], event["channel"]) == ("ada", "news")


@pytest.mark.parametrize("backend", ["REDIS", "REMOTE", None])
async def test_an_event_is_stored_whatever_the_backend_does(
    notes: Notes, backend: str | None
) -> None:
    await notes.put_in(backend)
    notes.go_away()

    await publish(notes, "e1", {"page": "/"})
    await publish(notes, "e2", {"page": "/"})

    async with notes.begin(write=False) as transaction:
        events = await transaction.channels.list_events("news", ["news"])
    assert [event.id for event in events] == ["e1", "e2"]
