"""Reading a plan from YAML, with errors that name the node and the line."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from mnestic.memory.canonical import check_json
from mnestic.memory.errors import InvalidInputError, InvalidPlanError
from mnestic.memory.plans import Plan, check_plan
from mnestic.starter.yaml_documents import read_yaml

LARGEST_PLAN_FILE_BYTES = 524_288  # with comments; a plan that is started has at most half of it
_MOST_PROBLEMS = 50
Lines = dict[tuple[str | int, ...], int]


def read_plan(path: Path) -> Plan:
    """Reads a plan from a file.

    Raises:
        InvalidPlanError: the file cannot be read, or what is in it is not a plan.
    """
    try:
        if not path.is_file():
            no_file = (
                errno.EISDIR if path.is_dir() else errno.EINVAL if path.exists() else errno.ENOENT
            )
            why = os.strerror(no_file)
            raise InvalidPlanError(source=str(path), problems=(why,))
        with path.open("rb") as file:
            content = file.read(LARGEST_PLAN_FILE_BYTES + 1)
        text = content[:LARGEST_PLAN_FILE_BYTES].decode("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidPlanError(source=str(path), problems=(why,)) from None
    if len(content) > LARGEST_PLAN_FILE_BYTES:
        why = f"it is larger than {LARGEST_PLAN_FILE_BYTES} bytes"
        raise InvalidPlanError(source=str(path), problems=(why,))
    return parse_plan(text, source=str(path))


def parse_plan(text: str, *, source: str) -> Plan:
    """Reads a plan from YAML text; `source` names it in errors.

    Raises:
        InvalidPlanError: lists every problem, with line and node.
    """
    try:
        root, data = read_yaml(text)
    except InvalidInputError as problem:
        raise InvalidPlanError(source=source, problems=(str(problem),)) from None
    lines = dict(_lines(root))
    try:
        plan = Plan.model_validate(data, extra="forbid")
    except ValidationError as error:
        problems = tuple(_told(error, data, lines))
        if len(problems) > _MOST_PROBLEMS:
            more = f"and {len(problems) - _MOST_PROBLEMS} more"
            problems = (*problems[:_MOST_PROBLEMS], more)
        raise InvalidPlanError(source=source, problems=problems) from None
    found = tuple(
        f"line {_line_of(lines, ('nodes', problem.index))}: {problem.why}"
        if problem.index is not None
        else problem.why
        for problem in check_plan(plan)
    )
    if found:
        raise InvalidPlanError(source=source, problems=found)
    return plan


def require_sound(plan: Plan) -> None:
    """Holds a plan that was made in Python to the same rules.

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


def _lines(
    node: yaml.Node, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Each place in the document, and the line it begins at."""
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _lines(value, (*path, key.value))
            yield (*path, key.value), key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _lines(item, (*path, index))


def _told(error: ValidationError, data: Any, lines: Lines) -> Iterator[str]:
    for problem in error.errors():
        path = _known_path(lines, problem["loc"])
        inside = path if path[:1] != ("nodes",) else path[2:]
        place = ".".join(str(part) for part in inside if isinstance(part, str))
        missing = str(problem["loc"][-1]) if problem["type"] == "missing" else ""
        where = ".".join(part for part in (place, missing) if part)
        told = [f"line {_line_of(lines, path)}", _node_name(data, path), where, _message(problem)]
        yield ": ".join(part for part in told if part)


def _message(problem: Any) -> str:
    if problem["type"] == "union_tag_not_found":
        return "names no kind; a node is of kind think, tool, recall, remember, emit or wait"
    if problem["type"] == "union_tag_invalid":
        tag = problem["ctx"]["tag"]
        return f"kind {tag!r} is unknown; a node is of kind think, tool, recall, remember, emit or wait"
    if problem["type"] == "extra_forbidden":
        return f"{problem['loc'][-1]!r} is not a field here"
    if problem["type"] == "missing":
        return "is missing"
    message: str = problem["msg"].removeprefix("Value error, ")
    return message


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
