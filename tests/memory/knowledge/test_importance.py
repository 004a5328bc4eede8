"""How important a memory is."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import StoredValueError
from mnestic.memory.knowledge.entries import ENTRY_TYPES, Entry
from mnestic.memory.knowledge.importance import (
    ImportancePolicy,
    changed_weights,
    importance,
    stored_policy,
)
from tests.memory.tables import not_refused, tables, wrong

CASES = tables(__file__)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(**fields: Any) -> Entry:
    values = {"id": "e", "entry_type": "interaction", "content": "", "at": NOON}
    return Entry.model_validate(values | fields)


def test_what_makes_a_memory_important() -> None:
    def importance_of(fields: dict[str, Any]) -> float:
        more = {name: value for name, value in fields.items() if name not in {"days", "chars"}}
        at = NOON + timedelta(days=fields.get("days", 0))
        return round(
            importance(entry(content="x" * fields.get("chars", 0), at=at, **more), now=NOON), 4
        )

    assert wrong(CASES["importance"], importance_of) == []


def test_children_are_relations_and_a_policy_changes_the_weights() -> None:
    alone, above = (importance(entry(), now=NOON, children=number) for number in (0, 2))
    policy = ImportancePolicy(entry_type=0, recency=1, recent_days=10)
    half = importance(entry(at=NOON - timedelta(days=5)), now=NOON, policy=policy)

    assert above == pytest.approx(alone + 0.06)
    assert half == pytest.approx(0.5)


@given(
    st.sampled_from(ENTRY_TYPES),
    st.booleans(),
    st.integers(0, 10**6),
    st.integers(-(10**4), 10**4),
    st.text(max_size=2000),
)
def test_importance_is_between_0_and_1(
    kind: str, critical: bool, asked: int, days: int, content: str
) -> None:
    given = entry(
        entry_type=kind,
        critical=critical,
        access_count=asked,
        content=content,
        at=NOON + timedelta(days=days),
        related=tuple("abcdef"),
    )

    assert 0 <= importance(given, now=NOON) <= 1


def test_a_type_keeps_its_weight_where_another_is_given_one() -> None:
    stored = changed_weights({"by_type": {"insight": 0.1}}, {"by_type": {"context": 1}})

    policy = stored_policy(stored)

    assert stored == {"by_type": {"insight": 0.1, "context": 1.0}}
    assert policy.by_type == ImportancePolicy().by_type | {"insight": 0.1, "context": 1.0}
    with pytest.raises(StoredValueError, match="recency"):
        stored_policy({"recency": "high"})


def test_a_stored_weight_that_only_another_version_has_is_left_out() -> None:
    stored = {"critical": 0.5, "recency": 0.4}

    assert stored_policy(stored) == ImportancePolicy(recency=0.4)
    assert changed_weights(stored, {"access": 0.3}) == {"recency": 0.4, "access": 0.3}


def test_a_weight_that_cannot_be_is_refused_with_what_is_allowed() -> None:
    infinite = ({"recent_days": float("inf")}, "recent_days: Input should be a finite number")

    assert not_refused([*CASES["refused"], infinite], partial(changed_weights, {})) == []
