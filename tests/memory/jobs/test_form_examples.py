from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.jobs.forms.form_examples import find_example
from mnestic.memory.jobs.forms.forms import check_form, check_payload
from tests.memory.steps import steps_of
from tests.memory.tables import refusal, tables

FORMS = tables(__file__)
NONE = {
    "nothing fits": {"not": {}},
    "a contradiction": {"type": "integer", "minimum": 3, "maximum": 2},
    "a rare pattern": {"type": "string", "pattern": "^zq[0-9]{7}$"},
    "a very large number": {"type": "number", "minimum": 10**400, "multipleOf": 0.5},
    "very many": {"type": "array", "minItems": 1000},
    "very long": {"type": "string", "minLength": 10**30},
    "many fields": {
        "required": [f"f{number}" for number in range(1000)],
        "properties": {f"f{number}": {"type": "integer"} for number in range(1000)},
        "not": {},
    },
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_example_fits_its_form(form: dict[str, Any]) -> None:
    check_form(form)

    example = find_example(form)

    assert example is not None
    check_payload(form, example.payload)


@pytest.mark.parametrize("form", NONE.values(), ids=NONE)
def test_where_nothing_is_found_in_some_steps_there_is_no_example(form: dict[str, Any]) -> None:
    found: list[object] = []

    steps = steps_of(lambda: found.append(find_example(form)))

    assert found == [None]
    assert steps["calls"] < 1_000_000


SCHEMAS = st.recursive(
    st.sampled_from(
        [{}, {"type": "string"}, {"type": "integer", "minimum": 3}, {"const": 1}, True, False]
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "items": inner,
            "minItems": st.integers(0, 12),
            "minLength": st.integers(0, 300) | st.just(2.0),
            "multipleOf": st.sampled_from([0.5, 3, 1e-300]),
            "maximum": st.integers(-5, 5),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "dependentRequired": st.just({"a": ["b"]}),
            "default": st.integers(),
        },
    ),
    max_leaves=8,
)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)))
def test_any_form_has_an_example_that_fits_or_none(form: dict[str, Any]) -> None:
    if refusal(check_form, form):
        return

    example = find_example(form)

    if example is not None:
        check_payload(form, example.payload)
