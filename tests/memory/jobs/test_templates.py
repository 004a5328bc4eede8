from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.templates import names_under, resolve, resolve_early, roots_of
from tests.memory.tables import not_refused, refusal, tables, wrong

CASES = tables(__file__)
ROOTS: dict[str, Any] = {
    "input": {"name": "Mara", "age": 41, "tags": ["a", {"b": "c"}], "none": None, "o'clock": 9},
    "results": {"look-up": {"found": {"deep": True}}, "empty": {}},
}


def test_a_template_is_filled_in() -> None:
    rows = [(template, [value, type(value)]) for template, value in CASES["filled"]]

    assert wrong(rows, lambda template: [found := resolve(template, ROOTS), type(found)]) == []


def test_a_root_that_is_not_at_hand_is_left_for_who_has_it() -> None:
    templates = ["${memory.variables.x}", "a ${memory.task} b", "${memory.a | memory.b}"]

    assert resolve_early(templates, ROOTS) == templates


@pytest.mark.parametrize("text", ["${memory.secret}", "a $${memory.secret} b", "$", "${", "$${"])
def test_text_that_was_put_in_early_is_no_template_later(text: str) -> None:
    memory = {"memory": {"secret": "s", "task": "t"}}
    told = {"input": {"text": text}}

    alone = resolve(resolve_early("${input.text}", told), memory)
    inside = resolve(resolve_early("x ${input.text} ${memory.task}", told), memory)
    nested = resolve(resolve_early("${input}", told), memory)

    assert alone == text
    assert inside == f"x {text} t"
    assert nested == {"text": text}


@given(st.lists(st.text(alphabet="${}memory.secrt |", max_size=20), min_size=1, max_size=4))
def test_no_template_arises_where_texts_meet(texts: list[str]) -> None:
    memory = {"memory": {"secret": "S", "m": "M"}}
    template = "{".join(f"${{input.t.{number}}}" for number in range(len(texts)))
    roots = {"input": {"t": texts}}

    filled = resolve(resolve_early(f"a{template}}}", roots), memory)

    assert filled == "a" + "{".join(texts) + "}"


def test_what_was_filled_in_is_not_read_as_a_template_again() -> None:
    filled = resolve("${input.text}", {"input": {"text": "${input.secret}", "secret": "s"}})

    assert filled == "${input.secret}"


def test_a_name_that_is_missing_is_told_with_what_is_there() -> None:
    assert not_refused(CASES["missing"], lambda template: resolve(template, ROOTS)) == []


def test_names_inside_of_what_memory_holds_are_not_told() -> None:
    roots = {"memory": {"variables": {"guests": {"Ida": {"since": "May"}}}}}
    ends = {
        "${memory.x}": "'x'; there is: variables",
        "${memory.variables.x}": "'x'; there is: guests",
        "${memory.variables.guests.x}": "has no 'x'",
        "${memory.variables.guests.Ida.x}": "has no 'x'",
    }

    assert all(refusal(resolve, path, roots).endswith(end) for path, end in ends.items())


def test_roots_are_found_at_any_depth() -> None:
    found = roots_of({"a": ["${input.x} and ${memory.y | results.z}"], "b": {"c": "${job.id}"}})

    assert list(found) == [{"input"}, {"memory", "results"}, {"job"}]
    assert list(roots_of([1, None, "plain", {}])) == []


def test_the_names_at_a_place_are_found_at_any_depth() -> None:
    assert wrong(CASES["names"], lambda value: sorted(names_under(value, "memory.results"))) == []


def test_what_templates_fill_in_has_a_limit_in_all() -> None:
    roots = {"input": {"text": "é" * 10, "rows": [1, 2]}}

    assert resolve(["${input.text}", "and ${input.text}"], roots, limit_bytes=40)
    with pytest.raises(InvalidInputError, match="text}: fills in more than the 39 bytes"):
        resolve(["${input.text}", "and ${input.text}"], roots, limit_bytes=39)
    with pytest.raises(InvalidInputError, match="rows}: fills in more than the 5 bytes"):
        resolve("${input.rows}", roots, limit_bytes=5)


def test_an_index_of_thousands_of_digits_is_not_there_unless_it_is_a_name() -> None:
    digits = "9" * 5_000

    with pytest.raises(InvalidInputError, match=r"has no '9+…'"):
        resolve(f"${{input.rows.{digits}}}", {"input": {"rows": [1]}})
    assert resolve(f"${{input.{digits}}}", {"input": {digits: 1}}) == 1
