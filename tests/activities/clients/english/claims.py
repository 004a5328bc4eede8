"""What messages claim, as the parser of English finds it."""

from datetime import UTC, datetime
from typing import Any

from mnestic.activities.clients.english.conversations import claims_of
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def turns(*texts: str, speaker: str = "Ada", **more: Any) -> list[ExtractionInput]:
    """Messages of one conversation; one that begins with `bot:` is of another speaker."""
    return [
        ExtractionInput(
            session_id="s",
            source_id=f"m{n}",
            speaker="bot" if text.startswith("bot:") else speaker,
            content=text.removeprefix("bot: "),
            at=AT,
            **more,
        )
        for n, text in enumerate(texts)
    ]


def said(*texts: str, **more: Any) -> list[tuple[Extracted, ...]]:
    """What messages of one conversation claim, in their order."""
    return list(claims_of(turns(*texts, **more)))


def last_claims(*texts: str) -> set[tuple[str, str, str, str | None]]:
    """What the last message claims."""
    claims = said(*texts)[-1]
    return {(each.kind, each.subject, each.predicate, each.object) for each in claims}
