from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.plan_checks import check_inputs, check_plan
from mnestic.memory.jobs.plans import Plan, ThinkNode, ToolNode
from mnestic.memory.jobs.retries import Retry
from mnestic.memory.retrieval.selections import AutoSelection
from tests.memory.jobs.plan_samples import emit, plan, problems, tool, wait


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
            [(0, "node 'a' goes on to 'b', which is not a node; there are a, end")],
        ),
        (
            [emit("a", {"on": "x", "cases": {"y": "b"}, "otherwise": "c"})],
            [
                (0, "node 'a' goes on to 'b', which is not a node; there are a, end"),
                (0, "node 'a' goes on to 'c', which is not a node; there are a, end"),
            ],
        ),
        (
            [wait("w", resumed="gone", timeout="end")],
            [(0, "node 'w' goes on to 'gone', which is not a node; there are w, end")],
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
            [emit("a", "end") | {"catch": "gone"}],
            [(0, "node 'a' goes on to 'gone', which is not a node; there are a, end")],
        ),
        ([emit("a", "end") | {"catch": "a"}], [(0, "node 'a' is in a loop without a wait")]),
        ([wait("w", resumed="end", timeout="end") | {"key": "\U0001f600" * 170}], []),
        (
            [wait("w", resumed="end", timeout="end") | {"key": "\U0001f600" * 171}],
            [
                (
                    0,
                    "wait 'w': key: takes 2054 bytes as a search attribute; at most 2048 are allowed",
                )
            ],
        ),
        (
            [wait("w", resumed="end", timeout="end") | {"form": {"type": "strng"}}],
            [
                (
                    0,
                    "wait 'w': form.type: \"strng\" is not valid under any of the schemas listed in the 'anyOf' keyword",
                )
            ],
        ),
        (
            [emit("a", "end") | {"content": "${memory.results}"}],
            [(0, "node 'a' has a template ${memory.results} without a node's id")],
        ),
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


def test_a_node_that_is_reached_by_a_catch_is_reached() -> None:
    found = problems(emit("a", "end") | {"catch": "b"}, emit("b", "end"))

    assert found == []


def test_nothing_is_filled_in_in_a_form() -> None:
    form = {"pattern": "^x$", "default": "${imput.x}"}

    found = problems(wait("w", resumed="end", timeout="end") | {"form": form})

    assert found == []


def test_a_tool_of_version_0_1_0_keeps_its_attempts() -> None:
    (old,) = plan(tool(attempts=2)).nodes

    assert isinstance(old, ToolNode)
    assert old.retry == Retry(attempts=2)
    assert Plan.model_validate_json(plan(tool(attempts=2)).model_dump_json()).nodes == (old,)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"attempts": 2, "retry": {"attempts": 3}}, "attempts stands in retry"),
        ({"attempts": "many"}, "retry.attempts"),
        ({"heartbeat": "2m"}, "heartbeat is longer than timeout"),
        ({"retry": {"backoff": 0}}, "backoff"),
        ({"store_above": -1}, "store_above"),
        ({"queue_timeout": "0s"}, "at least a second"),
        ({"catch": "no node"}, "catch"),
    ],
)
def test_a_tool_that_makes_no_sense_is_refused_in_words(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        plan(tool(**fields))


def test_a_tool_says_how_long_each_part_may_take() -> None:
    times = {"timeout": "5m", "heartbeat": "10s", "queue_timeout": "1h", "total_timeout": "1d"}

    (node,) = plan(tool(**times)).nodes

    assert isinstance(node, ToolNode)
    assert (node.timeout, node.heartbeat) == (timedelta(minutes=5), timedelta(seconds=10))
    assert (node.queue_timeout, node.total_timeout) == (timedelta(hours=1), timedelta(days=1))


@pytest.mark.parametrize("node_id", ["", "1a", "a b", "ä", "a" * 65, "a/b", "a\n"])
def test_an_id_of_other_characters_is_refused(node_id: str) -> None:
    with pytest.raises(ValidationError, match="id"):
        plan(emit(node_id, "end"))


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
    (problem,) = check_plan(Plan.model_validate({"name": "p", "nodes": [node]}))

    assert "holds what changed when a job is resumed" in problem.why


def test_the_variable_that_tells_of_drift_is_not_remembered() -> None:
    node = {"id": "keep", "kind": "remember", "variables": {"drift": 1}, "next": "end"}

    with pytest.raises(ValidationError, match="choose another name"):
        Plan.model_validate({"name": "p", "nodes": [node]})


def test_a_think_retrieves_by_default_or_as_it_says_or_not_at_all() -> None:
    def retrieve(said: Any) -> AutoSelection | None:
        node = {"id": "a", "kind": "think", "prompt": "x", "retrieve": said, "next": "end"}
        (found,) = plan(node).nodes
        assert isinstance(found, ThinkNode)
        return found.retrieve

    assert retrieve(True) == AutoSelection()
    assert retrieve(False) is retrieve(None) is None
    assert retrieve({"limit": 2}) == AutoSelection(limit=2)
    for wrong in ("yes", {"limit": 0}, {"min_score": 2}, {"max_tokens": -1}):
        with pytest.raises(ValidationError):
            retrieve(wrong)


def test_a_recall_that_searches_names_its_question() -> None:
    node = {"id": "a", "kind": "recall", "next": "end"}

    assert problems(node | {"search": {"question": "${memory.task} of ${input.x}"}}) == []
    assert problems(node | {"search": {"question": "${memory.task | input.x}"}}) == [
        (0, "node 'a' has a template with ${memory...} and other roots; write two")
    ]
    with pytest.raises(ValidationError, match="question"):
        plan(node | {"search": {}})


@pytest.mark.parametrize(
    ("inputs", "missing"),
    [
        (
            {},
            "${input.a} in one, two; ${input.b.c} in one; ${input.last} in two; ${input.x} in two",
        ),
        ({"a": None, "b": {"c": 1}, "x": 1}, "${input.last} in two"),
        ({"a": 1, "b": {}, "first": 2, "x": 1}, "${input.b.c} in one"),
        ({"a": 1, "b": {"c": 0}, "last": 2, "x": 1}, None),
    ],
)
def test_inputs_that_templates_name_are_missed_by_their_nodes(
    inputs: dict[str, Any], missing: str | None
) -> None:
    nodes = [
        {
            "id": "one",
            "kind": "remember",
            "variables": {"v": "${input.a}", "w": "${input.a} and $${input.d} ${input.b.c}"},
            "next": "two",
        },
        {
            "id": "two",
            "kind": "emit",
            "channel": "${input.e | job.id}",
            "content": "${input.a} ${input.first | input.last} ${results.one | input.x} ${input}",
            "next": "end",
        },
    ]
    plan = Plan.model_validate({"name": "p", "nodes": nodes})

    if missing is None:
        check_inputs(plan, inputs)
        return
    with pytest.raises(InvalidInputError) as caught:
        check_inputs(plan, inputs)

    assert str(caught.value) == (
        f"inputs: the plan needs more of them, none is given for {missing}"
    )
