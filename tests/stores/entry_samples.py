"""Entries, messages, claims and episodes that tests of their stores share."""

from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.resources import Resource

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(name: str, content: str = "The map of the harbour", **fields: Any) -> Entry:
    values = {"id": name, "entry_type": "interaction", "content": content, "at": NOON}
    return Entry.model_validate(values | fields)


def message(number: int, **fields: Any) -> Resource:
    """What Mara said a number of seconds after noon."""
    values = {
        "session_id": "s1",
        "source_id": f"m{number}",
        "channel": "chat",
        "speaker": "Mara",
        "content": f"text {number}",
        "at": NOON + timedelta(seconds=number),
    }
    return Resource.model_validate(values | fields)


def claim(said: int, value: str | None, kind: str = "affirmed", **fields: Any) -> Claim:
    """What somebody says of Mara, a number of days after noon."""
    values = {
        "kind": kind,
        "subject": "Mara",
        "predicate": "lives_in",
        "object": value,
        "said_at": NOON + timedelta(days=said),
        "source": ClaimSource(extractor="test", session_id="s1", source_id=f"m{said}"),
    } | fields
    named = "/".join(map(str, (said, kind, value, values["subject"], values["predicate"])))
    return Claim.model_validate({"id": named} | values)


def episode(number: int, **fields: Any) -> Episode:
    values = {
        "id": f"e{number}",
        "agent_id": "ada",
        "summary": f"summary {number}",
        "created_at": NOON + timedelta(minutes=number),
    }
    return Episode.model_validate(values | fields)
