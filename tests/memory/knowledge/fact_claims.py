"""Claims of where Mara lives, which the tests of facts share."""

from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.knowledge.claims import Claim, ClaimSource, Span
from mnestic.memory.knowledge.predicates import Predicate

PREDICATES: dict[str, Predicate] = {
    "single": Predicate(name="lives_in", cardinality="single"),
    "multi": Predicate(name="lives_in", cardinality="multi"),
}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def day(number: float) -> datetime:
    return NOON + timedelta(days=number)


def claim(said: float, value: str | None, kind: str = "affirmed", **fields: Any) -> Claim:
    """Something that was said of where Mara lives, on a day."""
    number = fields.pop("number", 0)
    name = f"{said}/{number}/{kind}/{value}"
    values = {
        "id": name,
        "kind": kind,
        "subject": "Mara",
        "predicate": "lives_in",
        "object": value,
        "said_at": day(said),
        "source": ClaimSource(
            extractor="test", source_id=f"m{said}", span=Span(start=number, end=number + 1)
        ),
    }
    return Claim.model_validate(values | fields)
