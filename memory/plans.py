"""Plans: an agent job as data, nodes that name their successors.

The model stands apart from the YAML it is read from, so that a plan made in Python is held to the
same rules.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from mnestic.memory.auto_selections import AutoSelection, SearchSelection
from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.durations import Duration
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forms import check_form
from mnestic.memory.job_contexts import ContextSelection
from mnestic.memory.knowing import KnowledgeSelection
from mnestic.memory.names import OWN_ACTIVITIES, OWN_TOOLS
from mnestic.memory.recalls import EpisodeSelection, Name, RecordSelection
from mnestic.memory.retries import Retry
from mnestic.memory.routes import check_route
from mnestic.memory.templates import long_names, names_under, roots_of
from mnestic.memory.usage import Budget
from mnestic.memory.waits import TIMEOUT, WaitPolicy, check_wait_key
from mnestic.memory.working import check_variable
from mnestic.memory.writes import MemoryWrite

END = "end"
_ROOTS = frozenset({"input", "results", "job", "memory"})
# The fields that an activity fills in, which knows `memory`; all others are the workflow's.
_WITH_MEMORY: dict[str, frozenset[str]] = {
    "think": frozenset({"prompt", "system", "retrieve"}),
    "recall": frozenset({"search"}),
    "remember": frozenset(MemoryWrite.model_fields),
    "emit": frozenset({"content"}),
}
NodeId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class Branch(DeferredModel):
    """A successor chosen by a value: `on` is a template, its text is looked up in `cases`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    on: str
    cases: dict[str, NodeId]
    otherwise: NodeId


class Step(DeferredModel):
    """What all nodes but `wait` have. `catch` is where to go on when the node fails."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: NodeId
    next: NodeId | Branch
    retry: Retry | None = None
    catch: NodeId | None = None

    def successors(self) -> tuple[str, ...]:
        """The nodes that may come next."""
        caught = () if self.catch is None else (self.catch,)
        if isinstance(self.next, Branch):
            return (*self.next.cases.values(), self.next.otherwise, *caught)
        return (self.next, *caught)


class ThinkNode(Step):
    """A model call over the prompt and the session's last messages; the reply joins working memory.

    Of the messages, the oldest are left out until the input fits into `max_input_tokens`. `know` says
    which facts the model is told, `retrieve` what is found for the prompt, or for a question; `true` is
    all by default. `context` is how much it is given of the latest episodes and of the records that the job has
    read; `false` is nothing. With `learn`, prompt and reply are learned from.
    """

    kind: Literal["think"]
    prompt: str
    system: str | None = None
    history: int = Field(20, ge=0, le=1000)
    max_input_tokens: int = Field(8000, ge=1, le=1_000_000)
    max_tokens: int = Field(512, ge=1, le=100_000)
    save_as: Name | None = None
    timeout: Duration = timedelta(minutes=2)
    know: KnowledgeSelection | None = None
    retrieve: AutoSelection | None = None
    context: ContextSelection | None = ContextSelection()
    learn: bool = False

    @field_validator("retrieve", "context", mode="before")
    @classmethod
    def _yes_or_no(cls, written: Any) -> Any:
        return {True: {}, False: None}[written] if isinstance(written, bool) else written


class ToolNode(Step):
    """Any Temporal activity, by name and task queue.

    `timeout` is of one attempt, `total_timeout` of all, `queue_timeout` until a worker takes it. An
    activity with `heartbeat` counts as lost when it gives none for so long. A result above
    `store_above` bytes, or above what a job may carry, is kept in the database by reference. With
    `learn` it is learned from.
    """

    kind: Literal["tool"]
    activity: Name
    task_queue: Name | None = None
    arguments: Any = None
    timeout: Duration = timedelta(minutes=1)
    heartbeat: Duration | None = None
    queue_timeout: Duration | None = None
    total_timeout: Duration | None = None
    store_above: int | None = Field(None, ge=0)
    learn: bool = False

    @model_validator(mode="before")
    @classmethod
    def _attempts_of_old(cls, written: Any) -> Any:
        """Reads plans of version 0.1.0, where a tool had `attempts` instead of `retry`."""
        if not isinstance(written, dict) or "attempts" not in written:
            return written
        if written.get("retry") is not None:
            raise ValueError("attempts stands in retry")
        rest = {name: value for name, value in written.items() if name != "attempts"}
        return rest | {"retry": {"attempts": written["attempts"]}}

    @model_validator(mode="after")
    def _heartbeats_fit(self) -> Self:
        if self.heartbeat is not None and self.heartbeat > self.timeout:
            raise ValueError("heartbeat is longer than timeout, so it would never be missed")
        return self


class RecallNode(Step):
    """Reads memory into a variable of working memory, and records into the job's read set."""

    kind: Literal["recall"]
    records: tuple[RecordSelection, ...] = ()
    episodes: EpisodeSelection | None = None
    search: SearchSelection | None = None
    save_as: Name | None = None


class RememberNode(Step, MemoryWrite):
    """Writes memory: records, an episode, and working memory, all or nothing.

    What it remembers as a message is learned from, unless `learn` is off.
    """

    kind: Literal["remember"]
    learn: bool = True


class EmitNode(Step):
    """Says something on a channel; it joins working memory as the assistant's message."""

    kind: Literal["emit"]
    channel: Name
    content: str


class WaitNode(DeferredModel):
    """Parks the job until a resume, or until the time is up; `on` names a successor per outcome.

    `form` is a JSON Schema that the payload of a resume must fit; a timeout has none.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: NodeId
    kind: Literal["wait"]
    key: Name
    ask: str | None = None
    timeout: Duration
    policy: WaitPolicy = "rebase"
    form: dict[str, Any] | None = None
    on: dict[str, NodeId]

    def successors(self) -> tuple[str, ...]:
        """The nodes that may come next."""
        return tuple(self.on.values())


Node = Annotated[
    ThinkNode | ToolNode | RecallNode | RememberNode | EmitNode | WaitNode,
    Field(discriminator="kind"),
]


class Plan(DeferredModel):
    """A job as data. It begins at its first node and is over at the successor `end`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: Name
    nodes: tuple[Node, ...]
    budget: Budget | None = None

    def node(self, node_id: str) -> Node:
        """The node of that id.

        Raises:
            KeyError: there is none.
        """
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    def results_named_from(self, node_id: str) -> frozenset[str]:
        """The results that templates name as `${results...}`, of a node and of all that may follow.

        A template that names all of them gives the empty name.
        """
        return frozenset().union(*map(results_named, self.nodes_from(node_id)))

    def nodes_from(self, node_id: str) -> tuple[Node, ...]:
        """A node and all that may follow it."""
        following = {node.id: node.successors() for node in self.nodes}
        ahead = _reached(following, from_=(node_id,))
        return tuple(node for node in self.nodes if node.id in ahead)

    @property
    def decision_id(self) -> str:
        """SHA-256 of the plan: which plan it was that decided.

        Defaults are left out, so that a field of a later version does not change it.
        """
        return sha256_hex(canonical_json(self.model_dump(mode="json", exclude_defaults=True)))


def results_named(node: Node) -> frozenset[str]:
    """The results that a node's templates name as `${results...}`; the empty name is all of them."""
    return names_under(node.model_dump(mode="json", exclude={"form"}), "results")


class Problem(DeferredModel):
    """Something wrong with a plan, at a node; the index is the node's place in the plan."""

    model_config = ConfigDict(frozen=True)

    index: int | None
    why: str


def check_plan(plan: Plan) -> tuple[Problem, ...]:
    """What is wrong with a plan that is well-formed: its graph, its waits and its templates."""
    return (
        *_ids(plan),
        *_variables(plan),
        *_successors(plan),
        *_tools(plan),
        *_waits(plan),
        *_forms(plan),
        *_loops(plan),
        *_unreached(plan),
        *_templates(plan),
    )


def _ids(plan: Plan) -> Iterator[Problem]:
    if not plan.nodes:
        yield Problem(index=None, why="a plan has at least one node")
    seen: dict[str, int] = {}
    for index, node in enumerate(plan.nodes):
        if node.id == END:
            yield Problem(index=index, why=f"{END!r} is the name of the plan's end, not of a node")
        if node.id in seen:
            yield Problem(index=index, why=f"node {node.id!r} is there twice")
        seen[node.id] = index


def _variables(plan: Plan) -> Iterator[Problem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, (RecallNode, ThinkNode)):
            try:
                check_variable(node.save_as or node.id)
            except InvalidInputError as error:
                yield Problem(index=index, why=f"node {node.id!r}: {error}")


def _successors(plan: Plan) -> Iterator[Problem]:
    known = {node.id for node in plan.nodes} | {END}
    for index, node in enumerate(plan.nodes):
        for successor in node.successors():
            if successor not in known:
                why = f"node {node.id!r} goes on to {successor!r}, which is not a node"
                yield Problem(index=index, why=why)


def _tools(plan: Plan) -> Iterator[Problem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, ToolNode):
            try:
                check_route(node.activity, node.task_queue)
                check_tool(node)
            except InvalidInputError as error:
                yield Problem(index=index, why=f"tool {node.id!r}: {error}")


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


def _waits(plan: Plan) -> Iterator[Problem]:
    for index, node in enumerate(plan.nodes):
        if not isinstance(node, WaitNode):
            continue
        if TIMEOUT not in node.on:
            yield Problem(index=index, why=f"wait {node.id!r} names no successor for 'timeout'")
        if not set(node.on) - {TIMEOUT}:
            yield Problem(index=index, why=f"wait {node.id!r} names no successor but 'timeout'")
        try:
            check_wait_key(node.key)
        except InvalidInputError as error:
            yield Problem(index=index, why=f"wait {node.id!r}: {error}")


def _forms(plan: Plan) -> Iterator[Problem]:
    for index, node in enumerate(plan.nodes):
        if isinstance(node, WaitNode) and node.form is not None:
            try:
                check_form(node.form)
            except InvalidInputError as error:
                yield Problem(index=index, why=f"wait {node.id!r}: {error}")


def _loops(plan: Plan) -> Iterator[Problem]:
    following = {n.id: () if isinstance(n, WaitNode) else n.successors() for n in plan.nodes}
    for index, node in enumerate(plan.nodes):
        if node.id in _reached(following, from_=following[node.id]):
            yield Problem(index=index, why=f"node {node.id!r} is in a loop without a wait")


def _unreached(plan: Plan) -> Iterator[Problem]:
    if not plan.nodes:
        return
    following = {node.id: node.successors() for node in plan.nodes}
    reached = _reached(following, from_=(plan.nodes[0].id,))
    for index, node in enumerate(plan.nodes):
        if node.id not in reached:
            yield Problem(index=index, why=f"node {node.id!r} is never reached")


def _reached(following: dict[str, tuple[str, ...]], *, from_: tuple[str, ...]) -> set[str]:
    reached: set[str] = set()
    ahead = list(from_)
    while ahead:
        node_id = ahead.pop()
        if node_id not in reached:
            reached.add(node_id)
            ahead.extend(following.get(node_id, ()))
    return reached


def _templates(plan: Plan) -> Iterator[Problem]:
    for index, node in enumerate(plan.nodes):
        document = node.model_dump(mode="json", exclude={"form"})  # nothing is filled in there
        for name in long_names(document):
            why = f"node {node.id!r} has a template with the name {name}…, which is too long"
            yield Problem(index=index, why=why)
        with_memory = {name: document.pop(name, None) for name in _WITH_MEMORY.get(node.kind, ())}
        late, early = list(roots_of(with_memory)), list(roots_of(document))
        for root in sorted(frozenset().union(*late, *early) - _ROOTS):
            known = ", ".join(sorted(_ROOTS))
            why = f"node {node.id!r} has a template ${{{root}...}}; templates begin with {known}"
            yield Problem(index=index, why=why)
        if any("memory" in roots for roots in early):
            why = f"node {node.id!r} has a template ${{memory...}} where memory is not at hand; it is in a prompt, a write and what is emitted"
            yield Problem(index=index, why=why)
        if any("memory" in roots and len(roots) > 1 for roots in late):
            why = f"node {node.id!r} has a template with ${{memory...}} and other roots; write two"
            yield Problem(index=index, why=why)
        if "" in names_under(with_memory, "memory.results"):
            why = f"node {node.id!r} has a template ${{memory.results}} without a node's id"
            yield Problem(index=index, why=why)
