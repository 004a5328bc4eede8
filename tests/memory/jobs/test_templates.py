from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.templates import names_under, resolve, resolve_early, roots_of

ROOTS: dict[str, Any] = {
    "input": {"name": "Mara", "age": 41, "tags": ["a", {"b": "c"}], "none": None, "o'clock": 9},
    "results": {"look-up": {"found": {"deep": True}}, "empty": {}},
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("${input.name}", "Mara"),
        ("${input.age}", 41),
        ("${input.none}", None),
        ("${input.tags}", ["a", {"b": "c"}]),
        ("${input.tags.1.b}", "c"),
        ("${results.look-up.found.deep}", True),
        ("Hello ${input.name}, ${input.age}!", "Hello Mara, 41!"),
        ("${input.tags} ${results.look-up.found}", '["a", {"b": "c"}] {"deep": true}'),
        ("${input.name}${input.name}", "MaraMara"),
        ("${input.missing | input.name}", "Mara"),
        ("${input.missing|results.gone|input.age}", 41),
        ("${input.none | input.name}", None),
        ("dear ${input.missing | input.name}", "dear Mara"),
        ("$input.name ${} ${1} $${x} $$$", "$input.name ${} ${1} ${x} $$"),
        (["${input.age}", {"k": "${input.name}"}], [41, {"k": "Mara"}]),
        ({"${input.name}": 1}, {"${input.name}": 1}),
        (7, 7),
    ],
)
def test_a_template_is_filled_in(template: Any, value: Any) -> None:
    filled = resolve(template, ROOTS)

    assert filled == value
    assert type(filled) is type(value)


@pytest.mark.parametrize(
    "template", ["${memory.variables.x}", "a ${memory.task} b", "${memory.a | memory.b}"]
)
def test_a_root_that_is_not_at_hand_is_left_for_who_has_it(template: str) -> None:
    filled = resolve_early(template, ROOTS)

    assert filled == template


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


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("${input.nam}", r"input\.nam.*'nam'.*age, name, none, o'clock, tags"),
        ("x ${input.name.first} y", r"'first'; there is: nothing by name"),
        ("${input.tags.2}", r"'2'; there is: nothing by name"),
        ("${results.empty.x}", r"'x'; there is: nothing"),
        ("${input.a | input.b}", r"input\.b.*'b'"),
    ],
)
def test_a_name_that_is_missing_is_told_with_what_is_there(template: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        resolve(template, ROOTS)


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("${memory.x}", "'x'; there is: variables"),
        ("${memory.variables.x}", "'x'; there is: guests"),
        ("${memory.variables.guests.x}", "has no 'x'"),
        ("${memory.variables.guests.Ida.x}", "has no 'x'"),
    ],
)
def test_names_inside_of_what_memory_holds_are_not_told(template: str, names: str) -> None:
    roots = {"memory": {"variables": {"guests": {"Ida": {"since": "May"}}}}}

    with pytest.raises(InvalidInputError) as refused:
        resolve(template, roots)

    assert str(refused.value).endswith(names)


def test_roots_are_found_at_any_depth() -> None:
    found = roots_of({"a": ["${input.x} and ${memory.y | results.z}"], "b": {"c": "${job.id}"}})

    assert list(found) == [{"input"}, {"memory", "results"}, {"job"}]
    assert list(roots_of([1, None, "plain", {}])) == []


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("${memory.results.a.x} and ${memory.results.b}", {"a", "b"}),
        ({"x": ["${memory.results.a | memory.results.c.0}"]}, {"a", "c"}),
        ("${memory.results}", {""}),
        ("$${memory.results.a} ${memory.resultsx.a} ${results.a}", set()),
        ([1, None, "plain"], set()),
    ],
)
def test_the_names_at_a_place_are_found_at_any_depth(value: object, names: set[str]) -> None:
    found = names_under(value, "memory.results")

    assert found == names


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
