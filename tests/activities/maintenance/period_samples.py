"""Messages of a large memory, and what builds and reads its summaries by time."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.memory_client import MemoryClient

MONDAY = datetime(2029, 4, 30, 9, tzinfo=UTC)  # its week is of two months
NIGHT = datetime(2030, 3, 2, 3, tzinfo=UTC)
Build = Callable[..., Awaitable[StepResult]]
Names = Callable[[], Awaitable[dict[str, str]]]


def said(content: str, *, days: float, session: str = "s1", by: str = "Mara") -> Resource:
    at = MONDAY + timedelta(days=days)
    name = f"{session}-{days}-{content[:9]}"
    return Resource(
        session_id=session, source_id=name, channel="chat", speaker=by, content=content, at=at
    )


async def say(memory: MemoryClient, *messages: Resource) -> None:
    await memory.ingest(messages)


ROSES = said("We planted 12 roses in the garden.", days=8)
BOILER = said("The plumber mended the boiler.", days=40)
OTHERS = {"month 2029-06", "week 2029-06-04", "session s1 2029-06-04"}
