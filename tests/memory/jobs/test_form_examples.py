import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.form_examples import find_example
from mnestic.memory.jobs.forms import check_form, check_payload

FORMS: dict[str, dict[str, Any]] = {
    "anything": {},
    "many texts and a number": {
        "type": "object",
        "properties": {**{name: {"type": "string"} for name in "abcdef"}, "n": {"type": "number"}},
        "required": list("abcdefn"),
    },
    "objects in objects and in a list": {
        "$defs": {
            "address": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("city", "street", "zip")},
                "required": ["city", "street", "zip"],
            }
        },
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "more": {"type": "array", "items": {"$ref": "#/$defs/address"}, "minItems": 2},
        },
        "required": ["name", "address", "more"],
    },
    "several that differ": {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 3,
        "uniqueItems": True,
    },
    "a number": {"type": "integer"},
    "null": {"type": "null"},
    "a yes": {"const": True},
    "one of": {"enum": ["mail", "letter"]},
    "an approval": {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0.5},
            "by": {"type": "string", "pattern": "^[A-Z]"},
            "how": {"enum": ["mail", "letter"]},
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        },
        "required": ["amount", "by", "items"],
        "additionalProperties": False,
    },
    "numbers within": {"type": "integer", "exclusiveMinimum": 10, "maximum": 14, "multipleOf": 4},
    "a fraction": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.25},
    "below zero": {"type": "integer", "maximum": -3},
    "definitions": {
        "$ref": "#/$defs/order",
        "$defs": {
            "order": {
                "type": "object",
                "properties": {"id": {"$ref": "#/$defs/id"}},
                "required": ["id"],
            },
            "id": {"type": "string", "minLength": 12, "maxLength": 12},
        },
    },
    "all of": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        ]
    },
    "either": {
        "type": "object",
        "properties": {"by": {"type": "string"}},
        "required": ["by"],
        "oneOf": [
            {"properties": {"ok": {"const": True}}, "required": ["ok"]},
            {"properties": {"why": {"type": "string", "minLength": 3}}, "required": ["why"]},
        ],
    },
    "may be null": {"anyOf": [{"type": "object", "required": ["x"]}, {"type": "null"}]},
    "different items": {
        "type": "array",
        "items": {"enum": [1, 2, 3]},
        "minItems": 3,
        "uniqueItems": True,
    },
    "a pair": {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "minItems": 2,
    },
    "a date": {"type": "string", "format": "date", "pattern": r"^\d{4}-\d\d-\d\d$"},
    "an address": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"},
    "a float for a count": {"type": "array", "items": {"type": "string"}, "minItems": 2.0},
    "at least two": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}},
        "minProperties": 2,
    },
}
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
def test_where_nothing_is_found_there_is_no_example(form: dict[str, Any]) -> None:
    began = time.process_time()

    assert find_example(form) is None

    assert time.process_time() - began < 0.5


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
    try:
        check_form(form)
    except InvalidInputError:
        return

    example = find_example(form)

    if example is not None:
        check_payload(form, example.payload)
