"""Plans: an agent job as data, nodes that name their successors.

A plan made in Python is held to the same rules as one that is read from YAML.
"""

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.durations import Duration
from mnestic.memory.jobs.contexts import ContextSelection
from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName
from mnestic.memory.jobs.recalls import EpisodeSelection, RecordSelection, check_reader
from mnestic.memory.jobs.retries import Retry
from mnestic.memory.jobs.templates import names_under
from mnestic.memory.jobs.waits import WaitCondition, WaitPolicy
from mnestic.memory.jobs.writes import MemoryWrite
from mnestic.memory.knowledge.prompt_facts import FactCondition, KnowledgeSelection
from mnestic.memory.models.usage import Budget
from mnestic.memory.retrieval.selections import AutoSelection, SearchSelection
from mnestic.memory.sharing.events import EventCondition
from mnestic.memory.validation import Name

END = "end"
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

    @model_validator(mode="after")
    def _a_reader_only_searches(self) -> Self:
        check_reader(self)
        return self


class RememberNode(Step, MemoryWrite):
    """Writes memory: records, an episode, and working memory, all or nothing.

    What it remembers as a message is learned from, unless `learn` is off.
    """

    kind: Literal["remember"]
    learn: bool = True


class MemoryNode(Step):
    """An operation of the agent's contract, such as `persist`; `save_as` is the variable that takes its result.

    A result that nobody names is kept under the node's id if the operation only reads.
    """

    kind: Literal["memory"]
    operation: OperationName
    arguments: dict[str, Any] = Field(default_factory=dict)
    save_as: Name | None = None

    @property
    def variable(self) -> str | None:
        """The variable that takes the result, if one does."""
        return self.save_as or (None if OPERATIONS[self.operation].writes else self.id)


class EmitNode(Step):
    """Says something on a channel; it joins working memory as the assistant's message."""

    kind: Literal["emit"]
    channel: Name
    content: str


class WaitNode(DeferredModel):
    """Parks the job until a resume, or until the time is up; `on` names a successor per outcome.

    `form` is a JSON Schema that the payload of a resume must fit; a timeout has none. With `event`, the first event on
    its channel that has the members `where` resumes it too, with the outcome `event`; with `fact`, such a fact that holds
    does, with the outcome `fact`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: NodeId
    kind: Literal["wait"]
    key: Name
    ask: str | None = None
    timeout: Duration
    policy: WaitPolicy = "rebase"
    form: dict[str, Any] | None = None
    event: EventCondition | None = None
    fact: FactCondition | None = None
    on: dict[str, NodeId]

    @model_validator(mode="before")
    @classmethod
    def _outcomes(cls, written: Any) -> Any:
        """`on` may be written as `outcomes`: some readers of YAML take `on` for true."""
        if isinstance(written, dict) and "outcomes" in written and "on" not in written:
            return {"on" if name == "outcomes" else name: one for name, one in written.items()}
        return written

    @model_validator(mode="after")
    def _a_condition_has_a_successor(self) -> Self:
        if self.event is not None and self.fact is not None:
            raise ValueError("a wait has an event or a fact, not both")
        condition = self.condition
        if condition is not None and condition.outcome not in self.on:
            raise ValueError(f"on has to name a successor of the outcome {condition.outcome}")
        return self

    @property
    def condition(self) -> WaitCondition | None:
        """What may end the wait besides a resume and its timeout."""
        return self.event or self.fact

    def successors(self) -> tuple[str, ...]:
        """The nodes that may come next."""
        return tuple(self.on.values())


Node = Annotated[
    ThinkNode | ToolNode | RecallNode | RememberNode | MemoryNode | EmitNode | WaitNode,
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

    def referenced_results_from(self, node_id: str) -> frozenset[str]:
        """The results that templates name as `${results...}`, of a node and of all that may follow.

        A template that names all of them gives the empty name.
        """
        return frozenset().union(*map(referenced_results, self.nodes_from(node_id)))

    def nodes_from(self, node_id: str) -> tuple[Node, ...]:
        """A node and all that may follow it."""
        following = {node.id: node.successors() for node in self.nodes}
        ahead = reached_nodes(following, from_=(node_id,))
        return tuple(node for node in self.nodes if node.id in ahead)

    @property
    def decision_id(self) -> str:
        """SHA-256 of the plan: which plan it was that decided.

        Defaults are left out, so that a field of a later version does not change it.
        """
        return sha256_hex(canonical_json(self.model_dump(mode="json", exclude_defaults=True)))


def referenced_results(node: Node) -> frozenset[str]:
    """The results that a node's templates name as `${results...}`; the empty name is all of them."""
    return names_under(node.model_dump(mode="json", exclude={"form"}), "results")


def reached_nodes(following: dict[str, tuple[str, ...]], *, from_: tuple[str, ...]) -> set[str]:
    """The nodes to which those of `from_` lead, these among them."""
    reached: set[str] = set()
    ahead = list(from_)
    while ahead:
        node_id = ahead.pop()
        if node_id not in reached:
            reached.add(node_id)
            ahead.extend(following.get(node_id, ()))
    return reached
