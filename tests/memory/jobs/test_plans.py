from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mnestic.memory.jobs.plan_checks import check_inputs, check_plan
from mnestic.memory.jobs.plans import Plan, ThinkNode, ToolNode
from mnestic.memory.jobs.retries import Retry
from mnestic.memory.retrieval.selections import AutoSelection
from tests.memory.jobs.plan_samples import emit, plan, problems, tool, wait
from tests.memory.tables import not_refused, refusal, tables, wrong

CASES = tables(__file__)
DONE: dict[str, str] = {"resumed": "end", "timeout": "end"}


def problems_of(nodes: list[list[Any]]) -> list[list[Any]]:
    made = [
        (wait(node_id, **to) if kind == "wait" else emit(node_id, to)) | (more[0] if more else {})
        for kind, node_id, to, *more in nodes
    ]
    return [[*problem] for problem in problems(*made)]


def test_each_problem_is_named_at_its_node() -> None:
    assert wrong(CASES["problems"], problems_of) == []


@pytest.mark.parametrize("nodes", CASES["sound"].values(), ids=CASES["sound"])
def test_a_sound_plan_has_no_problems(nodes: list[list[Any]]) -> None:
    assert problems_of(nodes) == []


def test_a_key_is_as_long_as_a_search_attribute_may_be() -> None:
    def of_key(key: str) -> list[tuple[int | None, str]]:
        return problems(wait("w", **DONE) | {"key": key})

    assert of_key("\U0001f600" * 170) == []
    assert of_key("\U0001f600" * 171) == [
        (0, "wait 'w': key: takes 2054 bytes as a search attribute; at most 2048 are allowed")
    ]


def test_memory_is_at_hand_where_an_activity_fills_in_and_nowhere_else() -> None:
    elsewhere = (
        "node 'a' has a template ${memory...} where memory is not at hand; "
        "it is in a prompt, a write and what is emitted"
    )
    node = {"id": "a", "next": "end"}
    mixed = {"kind": "recall", "search": {"question": "${memory.task | input.x}"}}

    assert [problems(node | one) for one in CASES["with_memory"]] == [[]] * 4
    assert [problems(node | one) for one in CASES["without_memory"]] == [[(0, elsewhere)]] * 4
    assert problems(node | mixed) == [
        (0, "node 'a' has a template with ${memory...} and other roots; write two")
    ]


def test_a_node_that_makes_no_sense_is_refused_in_words() -> None:
    def check(fields: dict[str, Any]) -> Plan:
        return plan((tool() if fields.get("kind") == "tool" else emit("a", "end")) | fields)

    assert not_refused(CASES["refused"], check, error=ValidationError) == []
    assert refusal(check, {"id": "a" * 65}, error=ValidationError)


def test_a_tool_says_how_long_each_part_may_take() -> None:
    times = {"timeout": "5m", "heartbeat": "10s", "queue_timeout": "1h", "total_timeout": "1d"}

    (node,) = plan(tool(**times)).nodes

    assert isinstance(node, ToolNode)
    assert (node.timeout, node.heartbeat) == (timedelta(minutes=5), timedelta(seconds=10))
    assert (node.queue_timeout, node.total_timeout) == (timedelta(hours=1), timedelta(days=1))


def test_the_decision_id_is_of_the_plan_and_not_of_how_it_was_written() -> None:
    left = plan(wait("w", resumed="end", timeout="end") | {"timeout": "1d"})
    right = plan(wait("w", timeout="end", resumed="end") | {"timeout": "24h"})

    assert left.decision_id == right.decision_id
    assert left.decision_id != plan(wait("v", **DONE)).decision_id


def test_a_plan_comes_back_from_its_json_also_one_of_version_0_1_0() -> None:
    written = plan(emit("a", "w"), wait("w", resumed="t", timeout="end"), tool("t", attempts=2))

    read = Plan.model_validate_json(written.model_dump_json())

    assert read == written
    *_, old = read.nodes
    assert isinstance(old, ToolNode)
    assert old.retry == Retry(attempts=2)


def test_a_node_is_found_by_its_id() -> None:
    made = plan(emit("a", "b"), emit("b", "end"))

    assert made.node("b").id == "b"
    with pytest.raises(KeyError):
        made.node("c")


def test_the_results_that_are_named_ahead_are_those_of_nodes_that_may_still_come() -> None:
    branch = {"on": "${results.turn.x}", "cases": {}, "otherwise": "w"}
    walked = plan(
        emit("a", "w") | {"content": "${results.first}"},
        wait("w", resumed="b", timeout="end"),
        emit("b", branch) | {"content": "${results.b.c | input.d} ${memory.results.e}"},
    )

    assert walked.referenced_results_from("w") == {"turn", "b"}
    assert walked.referenced_results_from("a") == {"first", "turn", "b"}


@pytest.mark.parametrize(
    "node",
    [
        {"id": "look", "kind": "recall", "save_as": "drift", "next": "end"},
        {"id": "drift", "kind": "recall", "next": "end"},
        {"id": "drift", "kind": "think", "prompt": "?", "next": "end"},
    ],
)
def test_the_variable_that_tells_of_drift_is_not_written_by_a_plan(node: dict[str, Any]) -> None:
    (problem,) = check_plan(plan(node))

    assert "holds what changed when a job is resumed" in problem.why


@pytest.mark.parametrize(
    ("said", "selection"),
    [(True, AutoSelection()), (False, None), (None, None), ({"limit": 2}, AutoSelection(limit=2))],
)
def test_a_think_retrieves_by_default_or_as_it_says_or_not_at_all(
    said: Any, selection: AutoSelection | None
) -> None:
    (node,) = plan(
        {"id": "a", "kind": "think", "prompt": "x", "retrieve": said, "next": "end"}
    ).nodes

    assert isinstance(node, ThinkNode)
    assert node.retrieve == selection


def test_inputs_that_templates_name_are_missed_by_their_nodes() -> None:
    made = Plan.model_validate(CASES["plan_with_inputs"])
    problem = "inputs: the plan needs more of them, none is given for "
    rows = [(inputs, missing and f"{problem}{missing}") for inputs, missing in CASES["inputs"]]

    assert wrong(rows, lambda inputs: refusal(check_inputs, made, inputs)) == []
