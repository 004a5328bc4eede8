import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.canonical import (
    canonical_json,
    check_json,
    check_size,
    is_blank,
    sha256_hex,
    storable_json,
)
from mnestic.memory.errors import InvalidInputError, PayloadTooLargeError

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)
any_text = st.text(max_size=4) | st.sampled_from(["a\0", "\\u0000", "\ud800"])
# What callers may hand over: most of it JSON, some of it not.
anything = st.recursive(
    scalars
    | any_text
    | st.floats()
    | st.binary(max_size=2)
    | st.integers(1000, 5000).map(lambda digits: 10**digits),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(any_text | st.integers() | st.none(), inner, max_size=4)
    ),
    max_leaves=8,
)


def refusal(check: Callable[..., object], value: Any, **more: int) -> str | None:
    """What an error says of the value, or None."""
    try:
        check(value, what="value", **more)
    except InvalidInputError as error:
        return str(error)
    return None


def nested(levels: int) -> Any:
    """A list in a list, and so on, around a number."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def reordered(value: Any) -> Any:
    """The same value, its keys the other way round at every level."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(values)
def test_the_order_of_keys_does_not_change_the_bytes(value: Any) -> None:
    content = canonical_json(reordered(value))

    assert content == canonical_json(value)


@given(values)
def test_a_value_comes_back_from_its_bytes(value: Any) -> None:
    check_json(value, what="value")

    content = canonical_json(value)

    assert json.loads(content) == value
    assert canonical_json(json.loads(content)) == content


@given(anything)
def test_what_is_written_is_refused_as_what_is_walked(value: Any) -> None:
    walked = refusal(check_json, value)

    assert refusal(storable_json, value) == walked
    if walked is None:
        assert storable_json(value, what="value") == canonical_json(value)


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_levels_around_a_value_count(depth: int) -> None:
    allowed, refused = nested(64 - depth), nested(65 - depth)

    assert refusal(storable_json, allowed, depth=depth) is None
    assert "deeper than 64 levels" in str(refusal(storable_json, refused, depth=depth))


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(InvalidInputError, match="64 levels"):
        storable_json(value, what="value")


def test_text_about_the_escape_of_nul_is_no_nul() -> None:
    content = storable_json({"a": "\\u0000"}, what="value")

    assert json.loads(content) == {"a": "\\u0000"}


@given(values, values)
def test_different_values_have_different_bytes(left: Any, right: Any) -> None:
    same = canonical_json(left) == canonical_json(right)

    assert not same or left == right


def test_the_form_is_as_small_as_json_can_be() -> None:
    content = canonical_json({"b": [1, 2.5, None], "a": {"é": "🙂", "B": True}})

    assert content == '{"a":{"B":true,"é":"🙂"},"b":[1,2.5,null]}'.encode()


def test_the_hash_of_bytes_is_known() -> None:
    found = sha256_hex(b"abc")

    assert found == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        pytest.param({"a": [1, float("nan")]}, r"value\.a\[1\].*nan", id="NaN"),
        pytest.param([float("-inf")], r"value\[0\].*-inf", id="infinity"),
        pytest.param({"a": "x\0y"}, r"value\.a.*NUL", id="NUL"),
        pytest.param({"x\0y": 1}, r"value.*NUL", id="NUL in a key"),
        pytest.param(["\ud800"], r"value\[0\].*surrogate", id="half of a surrogate pair"),
        pytest.param({1: "a"}, r"value.*key 1", id="a key that is a number"),
        pytest.param([{1, 2}], r"value\[0\].*set", id="a set"),
        pytest.param({"a": b"bytes"}, r"value\.a.*bytes", id="bytes"),
        pytest.param([range(3)], r"value\[0\].*range", id="a range"),
        pytest.param([10**5000], r"value\[0\].*integer", id="an integer of 5001 digits"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(InvalidInputError, match=place):
        check_json(value, what="value")


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_what_is_nested_too_deep_is_refused(wrap: Any) -> None:
    value: Any = 1
    for _ in range(64):
        value = wrap(value)
    check_json(value, what="value")

    with pytest.raises(InvalidInputError, match="64 levels"):
        check_json(wrap(value), what="value")


def test_a_value_may_be_as_large_as_its_limit() -> None:
    check_size("é" * 10, what="payload", limit_bytes=22)

    with pytest.raises(PayloadTooLargeError, match="23 bytes, the limit is 22") as caught:
        check_size("é" * 10 + "a", what="payload", limit_bytes=22)

    assert (caught.value.size_bytes, caught.value.limit_bytes) == (23, 22)


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True),
        (" \n\t\u00a0", True),
        ("\u200b\u2060\ufeff\u00ad\u202e", True),
        ("\u200ba", False),
        ("👍", False),
        (".", False),
    ],
)
def test_a_text_is_blank_that_has_nothing_but_what_is_invisible(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


def test_a_large_value_that_json_cannot_hold_is_refused_for_that() -> None:
    with pytest.raises(InvalidInputError, match="NUL"):
        check_size("\0" * 100, what="payload", limit_bytes=10)
