"""Differences of contracts, and what a new version drops or refuses."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.contract.checks import parse
from mnestic.memory.contract.differences import Change, consequences, differences
from tests.memory.contract.seo_documents import contract, edited
from tests.memory.tables import tables

CASES: Any = tables(__file__)
GRAPH = {
    "enabled": True,
    "nodes": [{"type": "Task"}, {"type": "Agent"}],
    "edges": [{"type": "BY", "from_node": "Task", "to_node": "Agent"}],
    "queries": [{"query_id": "all", "cypher": "MATCH (n) RETURN n"}],
}
DOCUMENTS = st.sampled_from([*(edits for edits, _, _ in CASES), {"graph": GRAPH}])


def test_each_change_is_named_by_its_path_and_by_what_it_drops() -> None:
    told = []
    for edits, _, _ in CASES:
        before, after = contract(), contract(edits)
        paths = [f"{change.kind} {change.path}" for change in differences(before, after)]
        told.append([edits, paths, [*consequences(before, after)]])

    assert [got for got, case in zip(told, CASES, strict=True) if got != case] == []


def test_a_change_shows_what_was_there_and_what_is() -> None:
    after = contract({"short_term.segments.0.priority": 9, "long_term.schemas.0.indexes": []})

    assert differences(contract(), after) == (
        Change(
            path="Memory.short_term.segments[task_context].priority",
            kind="changed",
            before=1,
            after=9,
        ),
        Change(
            path="Memory.long_term.schemas[seo_audit_history].indexes",
            kind="changed",
            before=["agent_id", "timestamp"],
            after=[],
        ),
    )


def test_types_and_queries_of_a_graph_that_go_are_named() -> None:
    before, after = contract({"graph": GRAPH}), contract({"graph": {"enabled": True}})

    assert consequences(before, after) == (
        "Node type Task is removed; its nodes stay readable, but are not written any more.",
        "Node type Agent is removed; its nodes stay readable, but are not written any more.",
        "Edge type BY Task Agent is removed; its edges stay readable, but are not written any more.",
        "Query all is removed; calls of it are refused.",
    )


def test_to_move_parts_of_a_list_is_no_change() -> None:
    moved = edited({})
    moved["Memory"]["short_term"]["segments"].reverse()

    assert differences(contract(), parse(moved)) == ()


@given(left=DOCUMENTS, right=DOCUMENTS)
def test_differences_are_none_to_itself_and_mirrored_the_other_way(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    one, other = contract(left), contract(right)

    assert differences(one, one) == ()
    assert consequences(one, one) == ()
    assert keys(differences(other, one)) == keys(map(mirrored, differences(one, other)))
    assert differences(one, other) or not consequences(one, other)


def mirrored(change: Change) -> Change:
    kind: Any = {"added": "removed", "removed": "added"}.get(change.kind, change.kind)
    return Change(path=change.path, kind=kind, before=change.after, after=change.before)


def keys(changes: Any) -> set[str]:
    return {json.dumps(change.model_dump()) for change in changes}
