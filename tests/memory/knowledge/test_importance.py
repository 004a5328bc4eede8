"""How important a memory is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.knowledge.entries import ENTRY_TYPES, Entry
from mnestic.memory.knowledge.importance import (
    ImportancePolicy,
    changed_weights,
    importance,
    stored_policy,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(**fields: Any) -> Entry:
    values = {"id": "e", "entry_type": "interaction", "content": "", "at": NOON}
    return Entry.model_validate(values | fields)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        pytest.param({}, 0.24 + 0.25, id="a new interaction"),
        pytest.param({"critical": True}, 0.4 + 0.25, id="critical"),
        pytest.param({"entry_type": "correction"}, 0.36 + 0.25, id="correction"),
        pytest.param({"entry_type": "insight"}, 0.32 + 0.25, id="insight"),
        pytest.param({"entry_type": "pattern"}, 0.28 + 0.25, id="pattern"),
        pytest.param({"entry_type": "context"}, 0.2 + 0.25, id="context"),
        pytest.param({"entry_type": "error"}, 0.2 + 0.25, id="a type without a weight"),
        pytest.param({"at": NOON - timedelta(days=15)}, 0.24 + 0.125, id="half a month old"),
        pytest.param({"at": NOON - timedelta(days=400)}, 0.24 + 0.025, id="old"),
        pytest.param({"at": NOON + timedelta(days=9)}, 0.24 + 0.25, id="of tomorrow"),
        pytest.param({"access_count": 5}, 0.24 + 0.25 + 0.1, id="asked for"),
        pytest.param({"access_count": 500}, 0.24 + 0.25 + 0.2, id="asked for often"),
        pytest.param({"related": ("a", "b")}, 0.24 + 0.25 + 0.06, id="related"),
        pytest.param({"related": tuple("abcdefg")}, 0.24 + 0.25 + 0.15, id="much related"),
        pytest.param({"parent": "p"}, 0.24 + 0.25 + 0.03, id="a child"),
        pytest.param({"content": "x" * 500}, 0.24 + 0.25 + 0.05, id="of some length"),
        pytest.param({"content": "x" * 5000}, 0.24 + 0.25 + 0.1, id="long"),
    ],
)
def test_what_makes_a_memory_important(fields: dict[str, Any], wanted: float) -> None:
    assert importance(entry(**fields), now=NOON) == pytest.approx(wanted)


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


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recency": 7}, "recency: Input should be less than or equal to 1; it is 7"),
        (
            {"by_type": {"insight": -1}},
            "by_type.insight: Input .* greater than or equal to 0; it is -1",
        ),
        (
            {"by_type": {"gossip": 1}},
            "by_type.gossip.*: Input should be .*'knowledge'.*; it is 'gossip'",
        ),
        ({"recentness": 1}, "recentness: is not known; did you mean richness"),
        ({"recent_days": float("inf")}, "recent_days: Input should be a finite number; it is inf"),
    ],
)
def test_a_weight_that_cannot_be_is_refused_with_what_is_allowed(
    changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=why):
        changed_weights({}, changes)
