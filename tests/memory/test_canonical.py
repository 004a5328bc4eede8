import json
from collections.abc import Callable
from functools import partial
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
from tests.memory.json_values import SCALARS, VALUES
from tests.memory.tables import refusal as refusal_of

any_text = st.text(max_size=4) | st.sampled_from(["a\0", "\\u0000", "\ud800"])
# What callers may hand over: most of it JSON, some of it not.
anything = st.recursive(
    SCALARS
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


def refusal(check: Callable[..., object], value: Any, **more: int) -> str:
    return refusal_of(partial(check, what="value", **more), value)


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


@given(VALUES)
def test_a_value_comes_back_from_its_bytes_whatever_the_order_of_its_keys(value: Any) -> None:
    check_json(value, what="value")

    content = canonical_json(value)

    assert json.loads(content) == value
    assert canonical_json(json.loads(content)) == canonical_json(reordered(value)) == content


@given(anything)
def test_what_is_written_is_refused_as_what_is_walked(value: Any) -> None:
    walked = refusal(check_json, value)

    assert refusal(storable_json, value) == walked
    if not walked:
        assert storable_json(value, what="value") == canonical_json(value)


def test_levels_around_a_value_count_and_one_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)

    for depth in (0, 1, 5):
        assert refusal(storable_json, nested(64 - depth), depth=depth) == ""
        for check in (storable_json, check_json) if depth == 0 else (storable_json,):
            more = {"depth": depth} if depth else {}
            assert "deeper than 64 levels" in refusal(check, nested(65 - depth), **more)
    assert "64 levels" in refusal(check_json, {"a": nested(64)})
    assert "64 levels" in refusal(storable_json, endless)


def test_text_about_the_escape_of_nul_is_no_nul() -> None:
    content = storable_json({"a": "\\u0000"}, what="value")

    assert json.loads(content) == {"a": "\\u0000"}


def test_the_form_is_as_small_as_json_can_be() -> None:
    content = canonical_json({"b": [1, 2.5, None], "a": {"é": "🙂", "B": True}})

    assert content == '{"a":{"B":true,"é":"🙂"},"b":[1,2.5,null]}'.encode()


def test_the_hash_of_bytes_is_known() -> None:
    found = sha256_hex(b"abc")

    assert found == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, float("nan")]}, "value.a[1]: is nan"),
        ([float("-inf")], "value[0]: is -inf"),
        ({"a": "x\0y"}, "value.a: holds a NUL"),
        ({"x\0y": 1}, "value: holds a NUL"),
        (["\ud800"], "value[0]: holds half of a surrogate"),
        ({1: "a"}, "value: has the key 1"),
        ([{1, 2}], "value[0]: is a set"),
        ({"a": b"bytes"}, "value.a: is a bytes"),
        ([10**5000], "value[0]: is an integer"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: Any, place: str) -> None:
    assert place in refusal(check_json, value)


def test_a_value_may_be_as_large_as_its_limit() -> None:
    check_size("é" * 10, what="payload", limit_bytes=22)

    with pytest.raises(PayloadTooLargeError, match="23 bytes, the limit is 22") as caught:
        check_size("é" * 10 + "a", what="payload", limit_bytes=22)

    assert (caught.value.size_bytes, caught.value.limit_bytes) == (23, 22)
    with pytest.raises(InvalidInputError, match="NUL"):
        check_size("\0" * 100, what="payload", limit_bytes=10)


def test_a_text_is_blank_that_has_nothing_but_what_is_invisible() -> None:
    blank = ["", " \n\t\u00a0", "\u200b\u2060\ufeff\u00ad\u202e"]

    assert [text for text in (*blank, "\u200ba", "👍", ".") if is_blank(text)] == blank
