"""Worlds: what agents remember, as data, kept by the ways that users have, once for each test process."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.memory.knowledge.entries import EntryQuery, EntryType
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings

WORLDS = Path(__file__).parent / "worlds"
AGENT = "ada"
_ADDED = ("at", "subjects", "tags", "aliases", "critical", "expires_at", "speaker")
_kept: dict[tuple[str, str], str] = {}

MemoryOf = Callable[..., MemoryClient]
Item = dict[str, Any]


class World:
    """The memories of a world's agents; a tenant of its own, and another beside it."""

    def __init__(self, client: MnesticClient, tenant_id: str) -> None:
        self._client, self._tenant_id = client, tenant_id

    def client_of(self, tenant: str = "") -> MnesticClient:
        """A client of the world's tenant, or of one beside it."""
        settings = self._client.settings.model_copy(
            update={"tenant_id": f"{self._tenant_id}{tenant}"}
        )
        return MnesticClient(
            self._client.temporal,
            self._client._memory,
            settings=settings,
            endpoints=self._client.endpoints,
        )

    def memory_of(self, case: Item) -> MemoryClient:
        """The memory that a case asks, or an item is kept in."""
        return self.client_of(case.get("tenant", "")).memory(case.get("agent", AGENT))

    async def keep(self, items: list[Item]) -> None:
        """Keeps the items in their order; what was said before is learned from before a change."""
        heard: dict[tuple[str, str], None] = {}
        for item in items:
            memory = self.memory_of(item)
            if "set" in item:
                await memory.settings.change(**item["set"])
                continue
            if "text" in item:
                await memory.ingest([_message(item)])
            elif "add" in item:
                await _add(memory, item)
            else:
                await self._learn(heard)
                await _change(memory, item)
                continue
            heard[item.get("tenant", ""), item.get("agent", AGENT)] = None
        await self._learn(heard)

    async def _learn(self, heard: dict[tuple[str, str], None]) -> None:
        while heard:
            (tenant, agent), _ = heard.popitem()
            client = self.client_of(tenant)
            await (await start_ingest(client, agent_id=agent)).result()


def load(world: str) -> dict[str, Any]:
    """What a world holds, and the questions that are asked of it."""
    text = (WORLDS / f"{world}.yaml").read_text("utf-8")
    told: dict[str, Any] = yaml.load(
        text, Loader=yaml.CSafeLoader
    )  # ten times as fast as without C
    return told


@pytest.fixture
def world_of(
    client: MnesticClient, settings: Settings, admin_url: str, worker: None
) -> Callable[[str], Awaitable[World]]:
    """A world by its name, which is kept in the database the first time that it is asked for."""
    del worker

    async def find(name: str) -> World:
        if (admin_url, name) not in _kept:
            tenant_id = f"{settings.tenant_id}-{name}"
            await World(client, tenant_id).keep(load(name)["memory"])
            _kept[admin_url, name] = tenant_id
        return World(client, _kept[admin_url, name])

    return find


def _message(item: Item) -> IncomingMessage:
    kind: TurnKind = "tool_result" if "tool" in item else "message"
    said = Resource(
        session_id=item["session"],
        source_id=item["id"],
        channel=item.get("channel", "chat"),
        speaker=item.get("tool") or item["speaker"],
        content=item["text"],
        at=item["at"],
    )
    corrects = item.get("corrects")
    entry_type: EntryType = "correction" if corrects else "interaction"
    return IncomingMessage(resource=said, kind=kind, entry_type=entry_type, corrects=corrects)


async def _add(memory: MemoryClient, item: Item) -> None:
    more = {name: item[name] for name in _ADDED if name in item}
    if "session" in item:
        more["session_id"] = item["session"]
    entry_type = item.get("type", "knowledge")
    await memory.add(item["add"], source_id=item["id"], entry_type=entry_type, **more)


async def _change(memory: MemoryClient, item: Item) -> None:
    if "archive" in item:
        await memory.entries.change(await _entry(memory, item["archive"]), status="archived")
    elif "change" in item:
        entry_id = await _entry(memory, item["change"])
        await memory.entries.change(entry_id, content=item["content"])
    elif "remove" in item:
        await memory.entries.delete(await _entry(memory, item["remove"]), facts=True)
    elif "fact" in item:
        subject, predicate, value = item["fact"]
        await memory.facts.add(subject, predicate, value, valid_from=item.get("valid_from"))
    else:
        subject, predicate, value = item["delete_fact"]
        facts, _ = await memory.facts.list(subject=subject, predicate=predicate)
        (fact,) = [each for each in facts if each.object == value]
        await memory.facts.delete(fact.id)


async def _entry(memory: MemoryClient, name: str) -> str:
    asked = EntryQuery(statuses=("active", "archived"), expired=True)
    entries, _ = await memory.entries.list(asked, limit=1000)
    (entry_id,) = [entry.id for entry in entries if entry.source_id == name]
    return entry_id
