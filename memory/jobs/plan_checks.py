"""What is wrong with a plan that is well-formed: its graph, its waits and its templates.

A plan that is under way is read without being checked again.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import check_form
from mnestic.memory.jobs.memory_operations import check_argument_names
from mnestic.memory.jobs.plans import (
    END,
    Branch,
    MemoryNode,
    Node,
    Plan,
    RecallNode,
    ThinkNode,
    ToolNode,
    WaitNode,
    reached_nodes,
)
from mnestic.memory.jobs.routes import check_route
from mnestic.memory.jobs.templates import long_names, missing_under, names_under, roots_of
from mnestic.memory.jobs.waits import TIMEOUT, check_wait_key
from mnestic.memory.jobs.working_memory import check_variable
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.names import OWN_ACTIVITIES, OWN_TOOLS

_MOST_SHOWN = 20  # nodes that an error names
_ROOTS = frozenset({"input", "results", "job", "memory"})
# The fields that an activity fills in, which knows `memory`; all others are the workflow's.
_WITH_MEMORY: dict[str, frozenset[str]] = {
    "think": frozenset({"prompt", "system", "retrieve"}),
    "recall": frozenset({"search"}),
    "remember": frozenset(MemoryWrite.model_fields),
    "memory": frozenset({"arguments"}),
    "emit": frozenset({"content"}),
}


class PlanProblem(DeferredModel):
    """Something wrong with a plan, at a node: the node's place in the plan, and the field's place in the node."""

    model_config = ConfigDict(frozen=True)

    index: int | None
    why: str
    field: tuple[str, ...] = ()


def check_plan(plan: Plan) -> tuple[PlanProblem, ...]:
    """What is wrong with a plan that is well-formed: its graph, its waits and its templates."""
    if not plan.nodes:
        return (PlanProblem(index=None, why="a plan has at least one node"),)
    return (*check_nodes(plan), *_loops(plan), *_unreached(plan))


def check_nodes(plan: Plan, *, others: Collection[str] = ()) -> tuple[PlanProblem, ...]:
    """What is wrong with each node by itself, also where `others`, by their ids, are malformed and left out."""
    return (
        *_ids(plan),
        *_variables(plan),
        *_operations(plan),
        *_successors(plan, others),
        *_tools(plan),
        *_waits(plan),
        *_forms(plan),
        *_templates(plan),
    )


def _ids(plan: Plan) -> Iterator[PlanProblem]:
    seen: dict[str, int] = {}
    for index, node in enumerate(plan.nodes):
        if node.id == END:
            yield PlanProblem(
                index=index, why=f"{END!r} is the name of the plan's end, not of a node"
            )
        if node.id in seen:
            yield PlanProblem(index=index, why=f"node {node.id!r} is there twice")
        seen[node.id] = index


def _variables(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        variable = None
        if isinstance(node, (RecallNode, ThinkNode)):
            variable = node.save_as or node.id
        if isinstance(node, MemoryNode):
            variable = node.variable
        try:
            if variable is not None:
                check_variable(variable)
        except InvalidInputError as error:
            yield PlanProblem(index=index, why=f"node {node.id!r}: {error}")


def _operations(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, MemoryNode):
            try:
                check_argument_names(node.operation, node.arguments)
            except InvalidInputError as error:
                why = f"node {node.id!r}: {error}"
                yield PlanProblem(index=index, why=why, field=("arguments",))


def _successors(plan: Plan, others: Collection[str]) -> Iterator[PlanProblem]:
    known = dict.fromkeys((*(node.id for node in plan.nodes), *others, END))
    there = ", ".join([*known][:_MOST_SHOWN]) + (", …" if len(known) > _MOST_SHOWN else "")
    for index, node in enumerate(plan.nodes):
        for field, successor in _named_successors(node):
            if successor not in known:
                why = f"node {node.id!r} goes on to {successor!r}, which is not a node; there are {there}"
                yield PlanProblem(index=index, why=why, field=field)


def _named_successors(node: Node) -> Iterator[tuple[tuple[str, ...], str]]:
    """The successors of a node, each with the field that names it."""
    if isinstance(node, WaitNode):
        yield from ((("on", outcome), name) for outcome, name in node.on.items())
        return
    if isinstance(node.next, Branch):
        yield from ((("next", "cases", case), name) for case, name in node.next.cases.items())
        yield ("next", "otherwise"), node.next.otherwise
    else:
        yield ("next",), node.next
    if node.catch is not None:
        yield ("catch",), node.catch


def _tools(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, ToolNode):
            try:
                check_route(node.activity, node.task_queue)
                check_tool(node)
            except InvalidInputError as error:
                yield PlanProblem(index=index, why=f"tool {node.id!r}: {error}")


def check_tool(node: ToolNode) -> None:
    """Checks that a tool is none of this package's own activities, but for those that are tools.

    Raises:
        InvalidInputError: it is one, or its arguments are no mapping, to which the job's scope is added.
    """
    if not node.activity.startswith(OWN_ACTIVITIES):
        return
    if node.activity not in OWN_TOOLS:
        known = ", ".join(sorted(OWN_TOOLS))
        why = f"{node.activity} is no tool; of {OWN_ACTIVITIES}* a tool node may name {known}"
        raise InvalidInputError(what="activity", why=why)
    if not isinstance(node.arguments, dict):
        raise InvalidInputError(what="arguments", why=f"{node.activity} takes names and values")


def _waits(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        if not isinstance(node, WaitNode):
            continue
        if TIMEOUT not in node.on:
            yield PlanProblem(index=index, why=f"wait {node.id!r} names no successor for 'timeout'")
        if not set(node.on) - {TIMEOUT}:
            yield PlanProblem(index=index, why=f"wait {node.id!r} names no successor but 'timeout'")
        try:
            check_wait_key(node.key)
        except InvalidInputError as error:
            yield PlanProblem(index=index, why=f"wait {node.id!r}: {error}")


def _forms(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, WaitNode) and node.form is not None:
            try:
                check_form(node.form)
            except InvalidInputError as error:
                yield PlanProblem(index=index, why=f"wait {node.id!r}: {error}")


def _loops(plan: Plan) -> Iterator[PlanProblem]:
    following = {n.id: () if isinstance(n, WaitNode) else n.successors() for n in plan.nodes}
    for index, node in enumerate(plan.nodes):
        if node.id in reached_nodes(following, from_=following[node.id]):
            yield PlanProblem(index=index, why=f"node {node.id!r} is in a loop without a wait")


def _unreached(plan: Plan) -> Iterator[PlanProblem]:
    if not plan.nodes:
        return
    following = {node.id: node.successors() for node in plan.nodes}
    reached = reached_nodes(following, from_=(plan.nodes[0].id,))
    for index, node in enumerate(plan.nodes):
        if node.id not in reached:
            yield PlanProblem(index=index, why=f"node {node.id!r} is never reached")


def _templates(plan: Plan) -> Iterator[PlanProblem]:
    for index, node in enumerate(plan.nodes):
        document = node.model_dump(mode="json", exclude={"form"})  # nothing is filled in there
        for name in long_names(document):
            why = f"node {node.id!r} has a template with the name {name}…, which is too long"
            yield PlanProblem(index=index, why=why)
        with_memory = {name: document.pop(name, None) for name in _WITH_MEMORY.get(node.kind, ())}
        late, early = list(roots_of(with_memory)), list(roots_of(document))
        for root in sorted(frozenset().union(*late, *early) - _ROOTS):
            known = ", ".join(sorted(_ROOTS))
            why = f"node {node.id!r} has a template ${{{root}...}}; templates begin with {known}"
            yield PlanProblem(index=index, why=why)
        if any("memory" in roots for roots in early):
            why = f"node {node.id!r} has a template ${{memory...}} where memory is not at hand; it is in a prompt, a write and what is emitted"
            yield PlanProblem(index=index, why=why)
        if any("memory" in roots and len(roots) > 1 for roots in late):
            why = f"node {node.id!r} has a template with ${{memory...}} and other roots; write two"
            yield PlanProblem(index=index, why=why)
        if "" in names_under(with_memory, "memory.results"):
            why = f"node {node.id!r} has a template ${{memory.results}} without a node's id"
            yield PlanProblem(index=index, why=why)


def check_inputs(plan: Plan, inputs: Mapping[str, Any], *, cursor: str | None = None) -> None:
    """Refuses inputs that lack what the plan's templates name, from the cursor's node on if there is one.

    Raises:
        InvalidInputError: names what is missing, and the nodes that need it.
    """
    needed: dict[str, list[str]] = {}
    for node in plan.nodes if cursor is None else plan.nodes_from(cursor):
        document = node.model_dump(mode="json", exclude={"form"})  # nothing is filled in there
        for path in dict.fromkeys(missing_under(document, "input", inputs)):
            needed.setdefault(path, []).append(node.id)
    if needed:
        missing = "; ".join(f"${{{path}}} in {', '.join(nodes)}" for path, nodes in needed.items())
        why = f"the plan needs more of them, none is given for {missing}"
        raise InvalidInputError(what="inputs", why=why)
