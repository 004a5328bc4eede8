"""Checks of a document: each problem with its path and its words, all at once, whatever the document is."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.contract.checks import LARGEST_CONTRACT_BYTES, check, parse
from mnestic.memory.contract.document import MemoryContract
from mnestic.memory.errors import InvalidContractError
from tests.memory.contract.seo_documents import edited, seo_document
from tests.memory.json_values import VALUES
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def problems(edits: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in check(edited(edits))]


def test_each_problem_names_its_path_and_what_is_allowed() -> None:
    assert wrong(CASES["problems"], problems) == []


def test_a_sound_document_has_no_problems() -> None:
    assert wrong([[edits, []] for edits in CASES["sound"]], problems) == []


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (None, "document: None is no object"),
        ([], "document: a list is no object"),
        ({}, "Memory: is missing"),
        ({"Memory": 5}, "Memory: 5 is no object"),
        ({"Memory": {}, "memory": {}}, "memory: is not known; did you mean Memory?"),
        ({"Memory": {3: {}}}, "Memory: has the key 3, which is not text"),
        ({"Memory": {"graph": float("nan")}}, "Memory.graph: is nan, which JSON does not have"),
    ],
)
def test_what_is_no_document_is_refused_in_words(raw: Any, problem: str) -> None:
    assert [str(found) for found in check(raw)] == [problem]


def test_a_document_that_is_too_large_is_refused() -> None:
    raw = edited({"vector.collections.0.description": "x" * LARGEST_CONTRACT_BYTES})

    assert [problem.path for problem in check(raw)] == ["document"]


def test_a_refused_document_names_its_problems_up_to_fifty() -> None:
    raw = edited({f"x{number}": 0 for number in range(60)})

    with pytest.raises(InvalidContractError) as caught:
        parse(raw)

    assert len(check(raw)) == 60
    assert len(caught.value.problems) == 51
    assert caught.value.problems[-1] == "and 10 more"
    assert str(caught.value).startswith("memory contract: Memory.x0: is not known; there are short")


def test_a_document_with_very_many_problems_gives_the_first_thousand() -> None:
    edges = [{"type": f"e{number}", "from_node": "x", "to_node": "y"} for number in range(5000)]
    nodes = [{"type": f"n{number}"} for number in range(5000)]

    found = check(edited({"graph": {"enabled": True, "nodes": nodes, "edges": edges}}))

    assert len(found) == 1000
    assert str(found[0]).endswith("there are " + ", ".join(f"n{n}" for n in range(20)) + ", …")


@given(st.data())
def test_any_edit_is_accepted_or_refused_at_a_path_of_the_document(data: st.DataObject) -> None:
    document = seo_document()
    for _ in range(data.draw(st.integers(1, 4))):
        edit_somewhere(data, document)

    found = check(document)

    there = {"document", *paths(document, "")}
    assert [
        problem
        for problem in found
        if not {problem.path, problem.path.rpartition(".")[0] or "document"} & there
    ] == []
    if not found:
        assert isinstance(parse(document), MemoryContract)


def edit_somewhere(data: st.DataObject, document: Any) -> None:
    """Removes, replaces, renames or repeats something at a place of a document."""
    places = [*containers(document)]
    place = data.draw(st.sampled_from(places))
    if isinstance(place, list):
        index = data.draw(st.integers(0, len(place)))
        place[index : index + 1] = data.draw(
            st.sampled_from([[], deepcopy(place[:2]), [data.draw(VALUES)]])
        )
    elif place:
        name = data.draw(st.sampled_from([*place]))
        value = place.pop(name)
        strange = st.sampled_from([*SCHEMA_VALUES, value]) | VALUES
        renamed = data.draw(st.sampled_from([name, f"{name}s", "$ref", "type"]))
        place[renamed] = deepcopy(data.draw(strange))  # so that no example changes another


SCHEMA_VALUES = [{"$ref": "#"}, {"pattern": "["}, {"type": 3}, "${X", "CREATE", [], {}, -1]


def containers(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


def paths(value: Any, path: str) -> Any:
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from paths(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths(item, f"{path}[{index}]")
