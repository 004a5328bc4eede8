from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mnestic.memory.plans import Plan, check_plan


def emit(node_id: str, next_: Any) -> dict[str, Any]:
    return {"id": node_id, "kind": "emit", "channel": "chat", "content": "x", "next": next_}


def wait(node_id: str, **on: str) -> dict[str, Any]:
    return {"id": node_id, "kind": "wait", "key": "k", "timeout": "1d", "on": on}


def plan(*nodes: dict[str, Any]) -> Plan:
    return Plan.model_validate({"name": "test", "nodes": nodes})


def problems(*nodes: dict[str, Any]) -> list[tuple[int | None, str]]:
    return [(problem.index, problem.why) for problem in check_plan(plan(*nodes))]


def test_a_sound_plan_has_no_problems() -> None:
    branch = {"on": "${results.a.x}", "cases": {"yes": "w"}, "otherwise": "end"}

    found = problems(emit("a", branch), wait("w", resumed="a", timeout="end"))

    assert found == []


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([], [(None, "a plan has at least one node")]),
        (
            [emit("a", "b")],
            [(0, "node 'a' goes on to 'b', which is not a node")],
        ),
        (
            [emit("a", {"on": "x", "cases": {"y": "b"}, "otherwise": "c"})],
            [
                (0, "node 'a' goes on to 'b', which is not a node"),
                (0, "node 'a' goes on to 'c', which is not a node"),
            ],
        ),
        (
            [wait("w", resumed="gone", timeout="end")],
            [(0, "node 'w' goes on to 'gone', which is not a node")],
        ),
        ([emit("a", "end"), emit("a", "end")], [(1, "node 'a' is there twice")]),
        (
            [emit("end", "end")],
            [
                (0, "'end' is the name of the plan's end, not of a node"),
                (0, "node 'end' is in a loop without a wait"),
            ],
        ),
        ([emit("a", "a")], [(0, "node 'a' is in a loop without a wait")]),
        (
            [emit("a", "b"), emit("b", "c"), emit("c", "b")],
            [
                (1, "node 'b' is in a loop without a wait"),
                (2, "node 'c' is in a loop without a wait"),
            ],
        ),
        ([emit("a", "end"), emit("b", "end")], [(1, "node 'b' is never reached")]),
        ([wait("w", resumed="end")], [(0, "wait 'w' names no successor for 'timeout'")]),
        ([wait("w", timeout="end")], [(0, "wait 'w' names no successor but 'timeout'")]),
        (
            [emit("a", "end") | {"content": "${imput.x}"}],
            [
                (
                    0,
                    "node 'a' has a template ${imput...}; templates begin with input, job, memory, results",
                )
            ],
        ),
    ],
)
def test_each_problem_is_told_at_its_node(
    nodes: list[dict[str, Any]], found: list[tuple[int | None, str]]
) -> None:
    told = problems(*nodes)

    assert told == found


MEMORY_IS_ELSEWHERE = (
    "node 'a' has a template ${memory...} where memory is not at hand; "
    "it is in a prompt, a write and what is emitted"
)


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "think", "prompt": "${memory.task}", "system": "${memory.task}"},
        {"kind": "remember", "note": "${memory.task}", "records": "${memory.variables.x}"},
        {"kind": "emit", "channel": "c", "content": "${memory.task | memory.scratchpad}"},
    ],
)
def test_memory_is_at_hand_where_an_activity_fills_in(node: dict[str, Any]) -> None:
    found = problems({"id": "a", "next": "end"} | node)

    assert found == []


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "tool", "activity": "x", "arguments": ["${memory.task}"]},
        {"kind": "recall", "records": [{"namespace": "${memory.task}"}]},
        {"kind": "emit", "channel": "${memory.task}", "content": "x"},
        {
            "kind": "emit",
            "channel": "c",
            "content": "x",
            "next": {"on": "${memory.task}", "cases": {}, "otherwise": "end"},
        },
    ],
)
def test_memory_where_it_is_not_at_hand_is_a_problem(node: dict[str, Any]) -> None:
    found = problems({"id": "a", "next": "end"} | node)

    assert found == [(0, MEMORY_IS_ELSEWHERE)]


def test_a_template_with_memory_and_another_root_is_a_problem() -> None:
    found = problems(emit("a", "end") | {"content": "${results.a | memory.task}"})

    why = "node 'a' has a template with ${memory...} and other roots; write two"
    assert found == [(0, why)]


def test_a_loop_with_a_wait_in_it_is_fine() -> None:
    found = problems(emit("a", "w"), wait("w", resumed="a", timeout="end"))

    assert found == []


def test_a_wait_may_loop_to_itself() -> None:
    found = problems(wait("w", resumed="end", timeout="w"))

    assert found == []


@pytest.mark.parametrize("node_id", ["", "1a", "a b", "ä", "a" * 65, "a/b", "a\n"])
def test_an_id_of_other_characters_is_refused(node_id: str) -> None:
    with pytest.raises(ValidationError, match="id"):
        plan(emit(node_id, "end"))


@given(st.data())
def test_loops_are_told_exactly_for_nodes_that_come_back_to_themselves(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    ids = [f"n{number}" for number in range(count)]
    target = st.sampled_from([*ids, "end"])
    waits = data.draw(st.sets(st.sampled_from(ids)))
    following = {node_id: data.draw(st.tuples(target, target)) for node_id in ids}
    nodes = [
        wait(node_id, resumed=one, timeout=two)
        if node_id in waits
        else emit(node_id, {"on": "x", "cases": {"one": one}, "otherwise": two})
        for node_id, (one, two) in following.items()
    ]

    told = {why.split("'")[1] for _, why in problems(*nodes) if "in a loop" in why}

    assert told == comes_back(ids, waits, following)


def comes_back(ids: list[str], waits: set[str], following: dict[str, tuple[str, str]]) -> set[str]:
    """Warshall's closure over the steps that need no wait; a node on its own diagonal is in a loop."""
    step = {(a, b): a not in waits and b in following[a] for a in ids for b in ids}
    for via in ids:
        for a in ids:
            for b in ids:
                step[a, b] = step[a, b] or (step[a, via] and step[via, b])
    return {node_id for node_id in ids if step[node_id, node_id]}


def test_the_decision_id_is_of_the_plan_and_not_of_how_it_was_written() -> None:
    left = plan(wait("w", resumed="end", timeout="end") | {"timeout": "1d"})
    right = plan(wait("w", timeout="end", resumed="end") | {"timeout": "24h"})

    assert left.decision_id == right.decision_id
    assert left.decision_id != plan(wait("v", resumed="end", timeout="end")).decision_id


def test_a_plan_comes_back_from_its_json() -> None:
    written = plan(emit("a", "w"), wait("w", resumed="a", timeout="end"))

    read = Plan.model_validate_json(written.model_dump_json())

    assert read == written


def test_a_node_is_found_by_its_id() -> None:
    made = plan(emit("a", "b"), emit("b", "end"))

    assert made.node("b").id == "b"
    with pytest.raises(KeyError):
        made.node("c")
