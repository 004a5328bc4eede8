"""The clinic of `reader_episode.yaml`: one agent to which five people talk, and what each of them may not get back."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.selectors import matches
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import read_cases

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
EPISODE: dict[str, Any] = read_cases(__file__, "reader_episode")
ROLES: dict[str, str] = EPISODE["roles"]
STRANGER = "user.nobody"
SHORT = EPISODE["questions"][3:17:5]  # direct ones, and one about everything


def message(number: int, speaker: str, content: str, readers: Sequence[str] | None) -> Resource:
    return Resource(
        session_id="s",
        source_id=f"m{number}",
        channel="chat",
        speaker=speaker,
        content=content,
        at=MORNING + timedelta(minutes=number),
        readers=readers,
    )


def may_read(one: dict[str, Any], reader: str) -> bool:
    return "for" not in one or any(matches(selector, reader) for selector in one["for"])


def secrets_from(reader: str) -> list[str]:
    """The words that a reader may not get back."""
    hidden = (one for one in EPISODE["said"] if not may_read(one, reader))
    return [word for one in hidden for word in one.get("private", ())]


def leaks(value: Any, reader: str, *, but: str = "") -> list[str]:
    """The words of a value, at any depth, that a reader may not get back; those that were asked for by name do not count."""
    words = [word for word in secrets_from(reader) if word.casefold() not in but.casefold()]
    text = "\n".join(texts_of(value))
    return [word for word in words if re.search(rf"(?i)(?<![\w.-]){word}(?!\w)", text)]


async def tell(client: MnesticClient, agent_id: str, *, reader: str | None = None) -> MemoryClient:
    """An agent to which all was said, or of it what one reader may read."""
    memory = client.memory(agent_id)
    await memory.ingest(
        [
            message(number, one["by"], one["text"], one.get("for"))
            for number, one in enumerate(EPISODE["said"])
            if reader is None or may_read(one, reader)
        ]
    )
    await (await start_ingest(client, agent_id=agent_id)).result()
    return memory


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value
