"""Reads a plan from YAML; errors name the node and the line."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError, InvalidPlanError
from mnestic.memory.jobs.plan_checks import PlanProblem, check_nodes, check_plan
from mnestic.memory.jobs.plans import Node, Plan
from mnestic.memory.validation import fields_at
from mnestic.starter.yaml_documents import Lines, lines_of, read_document, read_yaml

_MOST_PROBLEMS = 50
GivenPlan = Plan | Mapping[str, Any] | str
_MAX_EXCERPT = 60  # characters of a value that is wrong
_KINDS = "think, tool, recall, remember, emit or wait"


def read_plan(path: Path) -> Plan:
    """Reads a plan from a file.

    Raises:
        InvalidPlanError: the file cannot be read, or its content is not a plan.
    """
    return parse_plan(read_document(path), source=str(path))


def read_given_plan(given: GivenPlan) -> Plan:
    """The plan that somebody gives as such, as an object or as YAML text.

    Raises:
        InvalidPlanError: it is not a plan.
    """
    if isinstance(given, Plan):
        return given
    text = given if isinstance(given, str) else json.dumps(given, indent=1)
    return parse_plan(text, source="plan")


def parse_plan(text: str, *, source: str) -> Plan:
    """Reads a plan from YAML text; `source` names it in errors.

    Raises:
        InvalidPlanError: lists every problem, with line and node.
    """
    root, data = read_yaml(text, source=source)
    lines = lines_of(root)
    try:
        plan = Plan.model_validate(data, extra="forbid")
    except ValidationError as error:
        shown = [*_shape_problems(error, data, lines), *_other_problems(error, data, lines)]
        raise _refused(source, _in_order(shown)) from None
    found = [_at_line(problem, problem.index, lines) for problem in check_plan(plan)]
    if found:
        raise _refused(source, _in_order(found))
    return plan


def _refused(source: str, problems: Sequence[str]) -> InvalidPlanError:
    """The error with all problems, or the first of very many."""
    if len(problems) > _MOST_PROBLEMS:
        problems = (*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS} more")
    return InvalidPlanError(source=source, problems=tuple(problems))


def _in_order(problems: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """The problems in the order of their lines, without repetitions."""
    return tuple(dict.fromkeys(why for _, why in sorted(problems, key=lambda one: one[0])))


def _at_line(problem: PlanProblem, index: int | None, lines: Lines) -> tuple[int, str]:
    if index is None:
        return 0, problem.why
    line = _line_of(lines, ("nodes", index, *problem.field))
    return line, f"line {line}: {problem.why}"


def _other_problems(error: ValidationError, data: Any, lines: Lines) -> Iterator[tuple[int, str]]:
    """The other problems of the nodes whose shape is right, so that one error lists all."""
    nodes = data.get("nodes") if isinstance(data, dict) else None
    if not isinstance(nodes, list):
        return
    adapter: TypeAdapter[Node] = TypeAdapter(Node)
    malformed = {one["loc"][1] for one in error.errors() if len(one["loc"]) > 1}
    whole = [index for index in range(len(nodes)) if index not in malformed]
    plan = Plan(name="plan", nodes=tuple(adapter.validate_python(nodes[index]) for index in whole))
    named = (node.get("id") for node in nodes if isinstance(node, dict))
    for problem in check_nodes(plan, others=[name for name in named if isinstance(name, str)]):
        if problem.index is not None:
            yield _at_line(problem, whole[problem.index], lines)


def require_sound(plan: Plan) -> None:
    """Checks a plan that was made in Python by the same rules.

    Raises:
        InvalidPlanError: lists every problem.
    """
    try:
        check_json(plan.model_dump(mode="json"), what="plan")
    except InvalidInputError as error:
        raise InvalidPlanError(source="from Python", problems=(str(error),)) from None
    problems = tuple(problem.why for problem in check_plan(plan))
    if problems:
        raise InvalidPlanError(source=plan.name, problems=problems)


def _shape_problems(error: ValidationError, data: Any, lines: Lines) -> Iterator[tuple[int, str]]:
    for problem in error.errors():
        path = _known_path(lines, problem["loc"])
        inside = path if path[:1] != ("nodes",) else path[2:]
        place = ".".join(str(part) for part in inside if isinstance(part, str))
        missing = str(problem["loc"][-1]) if problem["type"] == "missing" else ""
        where = ".".join(part for part in (place, missing) if part)
        line = _line_of(lines, path)
        parts = [f"line {line}", _node_name(data, path), where, _message(problem)]
        yield line, ": ".join(part for part in parts if part)


def _message(problem: Any) -> str:
    if problem["type"] == "union_tag_not_found":
        return f"names no kind; a node is of kind {_KINDS}"
    if problem["type"] == "union_tag_invalid":
        return f"kind {problem['ctx']['tag']!r} is unknown; a node is of kind {_KINDS}"
    if problem["type"] == "extra_forbidden":
        known = ", ".join(fields_at(Plan, problem["loc"][:-1]))
        return f"{problem['loc'][-1]!r} is not a field here; there are {known}"
    if problem["type"] == "missing":
        return "is missing"
    message: str = problem["msg"].removeprefix("Value error, ")
    value = problem["input"]
    if isinstance(value, (dict, list)) or repr(value) in message:
        return message
    return f"{message}, not {_excerpt(value)}"


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}…"


def _known_path(lines: Lines, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The deepest place of the document on a validator's path, which has tags of its own in it."""
    path: tuple[str | int, ...] = ()
    for part in location:
        if (*path, part) in lines:
            path = (*path, part)
    return path


def _line_of(lines: Lines, path: tuple[str | int, ...]) -> int:
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _node_name(data: Any, path: tuple[str | int, ...]) -> str:
    if len(path) < 2 or path[0] != "nodes" or not isinstance(path[1], int):  # noqa: PLR2004 - nodes, index
        return ""
    node = data["nodes"][path[1]]
    name = node.get("id") if isinstance(node, dict) else None
    return f"node {name!r}" if name else f"node number {path[1] + 1}"
