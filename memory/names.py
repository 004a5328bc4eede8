"""Names that other systems see: workflow ids, handlers, search attributes.

They stand together so that an id is built in one place and the Temporal UI, the client and the
workflows can never disagree about one.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

SEARCH_ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "JobState": "keyword",
        "WaitKey": "keyword",
        "WaitDeadline": "datetime",
        "AgentId": "keyword",
        "SessionId": "keyword",
        "TenantId": "keyword",
        "PlanName": "keyword",
    }
)

AGENT_JOB = "AgentJob"
RESUME = "resume"
OVERRIDE = "override"
EXTEND_WAIT = "extend_wait"
PAUSE = "pause"
UNPAUSE = "unpause"
POKE = "poke"
END_JOB = "end"  # the operation that ends a job
MOVED = "JobMovedError"  # type of the failure of an update that is to be sent again
STATUS = "status"
RESUMPTION_CONTEXT = "resumption_context"
JOB_HEADER = "mnestic"  # the memo in which a job tells of its open wait
AGENT_INBOX = "AgentInbox"
INTERACTION = "interaction"
INSIGHT = "insight"
CORRECTION = "correction"
INGEST_MESSAGES = "IngestMessages"
MORE = "more"  # the signal that there are new messages to learn from
FORGET_TOPIC = "ForgetTopic"
FLUSH_RECORDS = "FlushRecords"
MAINTENANCE = "Maintenance"
INDEX_VECTORS = "IndexVectors"
PROGRESS = "progress"  # the query how far a maintenance run is
LEARNED = "learned"  # the query how many were learned from
VERSIONS = "~versions/"  # how the namespaces of earlier versions of records begin
CONFLICTS = "~conflicts/"  # how those of writes that wait for a decision do
HISTORIES = "~histories/"  # how those of conversation histories, by session, do
SHARED = "~shared/"  # how those of records that agents share do

OWN_ACTIVITIES = "mnestic."  # how the names of this package's activities begin
OWN_TOOLS = frozenset({"mnestic.read_session"})  # those that a tool node may name
_LONGEST_ATTRIBUTE = 255  # characters
_ESCAPED = re.compile(r"""[\x00-\x1f'"\\]""")
_KINDS = (
    "job",
    "ingest",
    "forget",
    "inbox",
    "maintenance",
    "flush",
)  # how ids of our workflows begin
_OWNED = re.compile(rf"(?:{'|'.join(_KINDS)})/([^/]+)/[^/]+")


def is_open(namespace: str) -> bool:
    """Whether anybody may write records of a namespace; there are some where Mnestic alone writes."""
    return not (is_beside_records(namespace) or namespace.startswith(HISTORIES))


def is_beside_records(namespace: str) -> bool:
    """Whether records of a namespace are versions or conflicts of others, which Mnestic alone writes."""
    return namespace.startswith((VERSIONS, CONFLICTS))


def tenant_of_workflow(workflow_id: str) -> str | None:
    """The tenant that a workflow id names, or None; ids of tenants, agents and jobs hold no slash."""
    found = _OWNED.fullmatch(workflow_id)
    return None if found is None else found[1]


def tenant_prefixes(tenant_id: str) -> tuple[str, ...]:
    """How the ids of a tenant's workflows begin."""
    return tuple(f"{kind}/{tenant_id}/" for kind in _KINDS)


def job_workflow_id(tenant_id: str, job_id: str) -> str:
    """The Temporal workflow id of a job."""
    return f"job/{tenant_id}/{job_id}"


def plan_attribute(name: str) -> str:
    """A plan's name as the search attribute PlanName holds it.

    Temporal's stores take 255 characters at most, and its queries find none of those that SQL escapes.
    """
    return _ESCAPED.sub("_", name[:_LONGEST_ATTRIBUTE])


def ingest_workflow_id(tenant_id: str, agent_id: str) -> str:
    """The Temporal workflow id of what learns from an agent's messages."""
    return f"ingest/{tenant_id}/{agent_id}"


def flush_workflow_id(tenant_id: str, agent_id: str) -> str:
    """The Temporal workflow id of what sends an agent's records to their backends."""
    return f"flush/{tenant_id}/{agent_id}"


def forget_workflow_id(tenant_id: str, forgetting_id: str) -> str:
    """The Temporal workflow id of a forgetting."""
    return f"forget/{tenant_id}/{forgetting_id}"


def inbox_workflow_id(tenant_id: str, agent_id: str) -> str:
    """The Temporal workflow id of an agent's inbox."""
    return f"inbox/{tenant_id}/{agent_id}"


def maintenance_workflow_id(tenant_id: str, kind: str) -> str:
    """The id of the Schedule of a kind of maintenance, and how the ids of its runs begin."""
    return f"maintenance/{tenant_id}/{kind}"


def index_workflow_id(tenant_id: str, agent_id: str) -> str:
    """The Temporal workflow id of what builds the vector index of an agent that has grown."""
    return f"maintenance/{tenant_id}/index/{agent_id}"


def maintenance_queue(task_queue: str) -> str:
    """The task queue of maintenance, beside that of jobs."""
    return f"{task_queue}-maintenance"


def wait_id(job_id: str, number: int) -> str:
    """The id of a job's n-th wait, counted from 1; it names its job, so it fits no other."""
    return f"{job_id}/w{number}"


def wait_number(wait: str) -> int:
    """Which wait of its job it is, counted from 1."""
    return int(wait.rpartition("/w")[2])


def operation_key(job_id: str, *, epoch: int, step: int, name: str) -> str:
    """The idempotency key of one memory write of a job.

    Made in the workflow from what a replay repeats; never from a run id, an activity id or an attempt.
    """
    return f"{job_id}/{epoch}/{step}/{name}"


def wait_operation_key(wait: str, name: str) -> str:
    """The idempotency key of what happens once to a wait: its opening, its restore."""
    return f"{wait}/{name}"
