import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms import FormField, check_form, check_payload, form_fields

APPROVAL = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "minimum": 0},
        "by": {"type": "string", "pattern": "^[A-Z]"},
        "how": {"enum": ["mail", "letter"]},
        "items": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["amount", "by"],
    "additionalProperties": False,
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
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


@pytest.mark.parametrize(
    "payload", [{"amount": 3, "by": "Ana"}, {"amount": 0.5, "by": "A", "how": "mail", "items": []}]
)
def test_a_payload_that_fits_is_taken(payload: Any) -> None:
    check_form(APPROVAL)

    check_payload(APPROVAL, payload)


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"amount": -3, "by": "A"}, "payload.amount: -3 is less than the minimum of 0"),
        ({"amount": 1}, 'payload: "by" is a required property'),
        (None, 'payload: null is not of type "object"'),
        (
            {"amount": 1, "by": "A", "how": "dove"},
            'payload.how: "dove" is not one of "mail" or "letter"',
        ),
        (
            {"amount": 1, "by": "A", "items": [1, "x"]},
            'payload.items[1]: "x" is not of type "integer"',
        ),
        (
            {"amount": 1, "by": "A", "z": 1},
            "payload: Additional properties are not allowed ('z' was unexpected)",
        ),
    ],
)
def test_a_problem_names_its_place_its_value_and_what_is_allowed(payload: Any, told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_payload(APPROVAL, payload)

    assert str(caught.value) == told


def test_three_problems_are_told_and_the_rest_counted() -> None:
    payload = {"amount": -1, "by": "a", "how": 1, "items": ["x", "y"]}

    with pytest.raises(InvalidInputError) as caught:
        check_payload(APPROVAL, payload)

    told = str(caught.value)
    assert told.startswith("payload.amount: -1 is less than the minimum of 0; payload.by: ")
    assert told.endswith("; and 2 more")


def test_a_long_value_is_not_told_in_full() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_payload({"type": "integer"}, "x" * 10_000)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"type": "strng"}, 'form.type: "strng" is not valid'),
        ({"properties": {"a": {"minimum": "x"}}}, "form.properties.a.minimum: "),
        ({"$ref": "#/$defs/gone"}, "form: Pointer '/$defs/gone' does not exist"),
        ({"pattern": "["}, "form.pattern: "),
        ({"pattern": "(?=a)"}, "form.pattern: "),
        ({"$schema": "https://example.com/mine"}, "form.$schema: is not https"),
        ({"description": "x" * 17_000}, "form: is 17018 bytes, at most 16384 are allowed"),
        ({"allOf": [{"$ref": "#/$defs/a"}] * 33}, "form: has 33 references, at most 32"),
        ({"const": float("nan")}, "form.const: is nan"),
        ({"not": "\x00"}, "form.not: holds a NUL"),
    ],
    ids=str,
)
def test_what_is_no_form_is_refused_in_words(form: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_form(form)

    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/form.json", "file:///etc/hostname"])
def test_a_form_is_never_fetched(place: str) -> None:
    with pytest.raises(InvalidInputError, match="only #/… is allowed"):
        check_form({"$ref": place})


def test_definitions_of_its_own_are_followed() -> None:
    form = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    check_form(form)

    with pytest.raises(InvalidInputError, match="is not of type"):
        check_payload(form, "x")


def test_patterns_do_not_take_long() -> None:
    began = time.monotonic()

    with pytest.raises(InvalidInputError):
        check_payload({"pattern": "(a+)+$"}, "a" * 16_000 + "b")

    assert time.monotonic() - began < 1


@given(JSON)
def test_any_json_is_a_form_or_refused(value: Any) -> None:
    form = {"properties": value, "anyOf": [value]} if not isinstance(value, dict) else value

    try:
        check_form(form)
    except InvalidInputError:
        return

    assert form_fields(form)


@given(JSON)
def test_any_json_is_refused_by_a_form_that_it_does_not_fit(payload: Any) -> None:
    check_payload({}, payload)

    with pytest.raises(InvalidInputError, match=r"^payload"):
        check_payload(APPROVAL, payload)


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        (
            APPROVAL,
            [
                ("amount", "number", True),
                ("by", "string", True),
                ("how", "mail or letter", False),
                ("items", "array", False),
            ],
        ),
        ({"required": ["x"]}, [("x", "any value", True)]),
        ({"properties": {"x": True}}, [("x", "any value", False)]),
        ({"type": ["string", "null"]}, [("payload", "string or null", True)]),
        ({"properties": {"x": {"const": 3}}}, [("x", "3", False)]),
        ({}, [("payload", "any value", True)]),
    ],
)
def test_a_person_is_told_the_fields_at_the_top(
    form: dict[str, Any], fields: list[tuple[str, str, bool]]
) -> None:
    told = form_fields(form)

    assert told == tuple(FormField(name=n, kind=k, required=r) for n, k, r in fields)


@pytest.mark.parametrize(
    "form",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        {
            "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}},
            "properties": {"x": {"$ref": "#/$defs/a"}},
        },
    ],
)
def test_references_in_a_circle_are_refused(form: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="leads in a circle"):
        check_form(form)


@pytest.mark.parametrize("key", ["$anchor", "$dynamicRef", "$dynamicAnchor"])
def test_references_by_another_way_are_refused(key: str) -> None:
    with pytest.raises(InvalidInputError, match=r"only .ref is allowed"):
        check_form({"properties": {"x": {key: "there"}}})
