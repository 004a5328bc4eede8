"""What messages claim, as the parser of English finds it."""

from datetime import UTC, datetime
from typing import Any

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.memory.knowledge.extraction import Extracted, Turn

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def said(*texts: str, speaker: str = "Ada", **more: Any) -> list[tuple[Extracted, ...]]:
    """What messages of one conversation claim, in their order."""
    turns = [
        Turn(session_id="s", source_id=f"m{n}", speaker=speaker, content=text, at=AT, **more)
        for n, text in enumerate(texts)
    ]
    return list(claims_of(turns))


def last_claims(*texts: str, speaker: str = "Ada") -> set[tuple[str, str, str, str | None]]:
    """What the last message claims."""
    claims = said(*texts, speaker=speaker)[-1]
    return {(each.kind, each.subject, each.predicate, each.object) for each in claims}
