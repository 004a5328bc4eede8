from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import check_form, check_payload, form_fields
from tests.memory.json_values import SCALARS
from tests.memory.tables import not_refused, refusal, tables, wrong

CASES = tables(__file__)
APPROVAL = CASES["approval"]
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "$ref", "enum", "items", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


def problem_of(payload: Any, form: dict[str, Any] = APPROVAL) -> str:
    return refusal(check_payload, form, payload)


def test_a_problem_names_its_place_its_value_and_what_is_allowed() -> None:
    check_form(APPROVAL)

    assert wrong(CASES["payloads"], problem_of) == []


def test_three_problems_are_named_in_short_and_the_rest_counted() -> None:
    several = problem_of({"amount": -1, "by": "a", "how": 1, "items": ["x", "y"]})

    assert several.startswith("payload.amount: -1 is less than the minimum of 0; payload.by: ")
    assert several.endswith("; and 2 more")
    assert 0 < len(problem_of("x" * 10_000, {"type": "integer"})) < 300


def test_what_is_no_form_is_refused_in_words() -> None:
    more = [
        ({"description": "x" * 17_000}, "form: is 17018 bytes, at most 16384 are allowed"),
        ({"allOf": [{"$ref": "#/$defs/a"}] * 33}, "form: has 33 references, at most 32"),
        ({"const": float("nan")}, "form.const: is nan"),
        ({"not": "\x00"}, "form.not: holds a NUL"),
    ]

    assert not_refused([*CASES["refused"], *more], check_form) == []


def test_definitions_of_its_own_are_followed() -> None:
    form = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    check_form(form)

    assert "is not of type" in problem_of("x", form)


def test_patterns_are_matched_without_backtracking() -> None:
    """With it, this takes longer than anybody waits."""
    assert problem_of("a" * 16_000 + "b", {"pattern": "(a+)+$"})


@given(JSON)
def test_any_json_is_a_form_or_refused(value: Any) -> None:
    form = {"properties": value, "anyOf": [value]} if not isinstance(value, dict) else value

    assert refusal(check_form, form) or form_fields(form)


@given(JSON)
def test_any_json_is_refused_by_a_form_that_it_does_not_fit(payload: Any) -> None:
    check_payload({}, payload)

    with pytest.raises(InvalidInputError, match=r"^payload"):
        check_payload(APPROVAL, payload)


def test_a_person_sees_the_fields_at_the_top() -> None:
    rows = [(APPROVAL, CASES["approval_fields"]), *CASES["fields"]]

    assert wrong(rows, lambda form: [[f.name, f.kind, f.required] for f in form_fields(form)]) == []
