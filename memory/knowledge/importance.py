"""Importance: how much a memory is worth keeping and showing, from 0 to 1.

All weights are one value, so that a tenant's policy is data.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field, ValidationError, field_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.knowledge.entries import Entry, EntryType
from mnestic.memory.validation import Share, problem_of, refused

IMPORTANCE_POLICY = (
    "importance_policy"  # the name of the setting, which a tenant has for all its agents
)
CRITICAL = 1.0  # the value of a critical entry, in place of its type's
OTHER_TYPE = 0.5  # the value of a type without one of its own
LEAST_RECENCY = 0.1
MANY_ACCESSES, MANY_RELATIONS, RICH_CHARS = 10, 5, 1000  # as many count in full
_DAY = timedelta(days=1)
_BY_TYPE: Mapping[EntryType, float] = MappingProxyType(
    {
        "correction": 0.9,
        "insight": 0.8,
        "knowledge": 0.8,
        "learning": 0.7,
        "pattern": 0.7,
        "interaction": 0.6,
        "preference": 0.6,
        "context": 0.5,
    }
)


class ImportancePolicy(DeferredModel):
    """The weights of what makes a memory important, and where each part is at its full value.

    Types that `by_type` does not name keep their default weights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entry_type: Share = Field(0.4, description="Weight of its type")
    recency: Share = Field(0.25, description="Weight of how recent it is")
    access: Share = Field(0.2, description="Weight of how often it was retrieved")
    relations: Share = Field(0.15, description="Weight of its relations to other entries")
    richness: Share = Field(0.1, description="Weight of its length")
    by_type: dict[EntryType, Share] = Field(
        default_factory=lambda: dict(_BY_TYPE), description="Value of each type"
    )
    recent_days: float = Field(
        30, gt=0, allow_inf_nan=False, description="Days in which recency falls to its least value"
    )

    @field_validator("by_type", mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        return {**_BY_TYPE, **given} if isinstance(given, Mapping) else given


_DEFAULTS = ImportancePolicy()


class ImportanceBasis(NamedTuple):
    """What importance is measured by in a transaction: its time, and the tenant's policy."""

    now: datetime
    policy: ImportancePolicy


def stored_policy(stored: Mapping[str, Any] | None) -> ImportancePolicy:
    """The policy of a tenant, given the weights that it has changed; of another version's the known ones.

    Raises:
        StoredValueError: one is stored that cannot be.
    """
    if not stored:
        return _DEFAULTS
    try:
        return ImportancePolicy.model_validate(stored, extra="ignore")
    except ValidationError as error:
        raise StoredValueError(what="the importance policy", why=problem_of(error)) from None


def changed_weights(stored: Mapping[str, Any] | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The weights that a tenant has changed, with more changes; a type in `by_type` changes alone.

    Raises:
        InvalidInputError: there is no such weight, or it cannot have that value.
    """
    known = {
        name: weight
        for name, weight in (stored or {}).items()
        if name in ImportancePolicy.model_fields
    }
    weights = {**known, **changes}
    by_type = changes.get("by_type")
    if isinstance(by_type, Mapping):
        weights["by_type"] = {**(stored or {}).get("by_type", {}), **by_type}
    try:
        policy = ImportancePolicy.model_validate(weights)
    except ValidationError as error:
        refusal = refused("importance", error, model=ImportancePolicy)
        given = error.errors(include_url=False)[0]["input"]
        raise InvalidInputError(
            what="importance", why=f"{refusal.why}; it is {given!r:.40}"
        ) from None
    values = policy.model_dump(mode="json")
    changed = {name: values[name] for name in weights}
    if "by_type" in weights:
        changed["by_type"] = {name: values["by_type"][name] for name in weights["by_type"]}
    return changed


def check_weights(names: Iterable[str]) -> None:
    """Refuses names of weights that there are not.

    Raises:
        InvalidInputError: names the first, and lists those that there are.
    """
    for name in names:
        if name not in ImportancePolicy.model_fields:
            known = ", ".join(ImportancePolicy.model_fields)
            raise InvalidInputError(
                what=f"importance {name[:140]}", why=f"is not known; there are {known}"
            )


def importance(
    entry: Entry, *, now: datetime, children: int = 0, policy: ImportancePolicy | None = None
) -> float:
    """The importance of an entry at a moment, clipped to [0, 1].

    Args:
        entry: The memory; its stored importance is not looked at.
        now: What its age is measured against; an entry of later counts as new.
        children: How many entries belong to it; they are relations as well.
        policy: The weights; the defaults without one.
    """
    weights = policy or _DEFAULTS
    kind = weights.by_type.get(entry.entry_type, OTHER_TYPE)
    days = max(0, (now - entry.at) // _DAY)
    relations = len(entry.related) + (entry.parent is not None) + children
    parts = (
        weights.entry_type * (CRITICAL if entry.critical else kind),
        weights.recency * max(LEAST_RECENCY, 1 - days / weights.recent_days),
        weights.access * min(1, entry.access_count / MANY_ACCESSES),
        weights.relations * min(1, relations / MANY_RELATIONS),
        weights.richness * min(1, len(entry.content) / RICH_CHARS),
    )
    return min(1.0, max(0.0, sum(parts)))
