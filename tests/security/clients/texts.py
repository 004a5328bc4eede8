"""What each method of the Python client is called with, where nothing is wrong, and what is made for its parameters."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from mnestic.memory.forgetting.export_lines import EndLine, HeaderLine
from mnestic.memory.forgetting.requests import Purged
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.inbox import MessageSignal, Statement, ToolOutput
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.agent_settings import SettingsClient
from mnestic.starter.client.contexts import ContextClient, RetrievalLogClient
from mnestic.starter.client.entries import EntryClient
from mnestic.starter.client.events import EventClient
from mnestic.starter.client.facts import FactClient, GraphClient
from mnestic.starter.client.forgetting import ForgettingClient
from mnestic.starter.client.inbox import InboxClient
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.messages import MessageClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.client.parked import ParkedClient
from mnestic.starter.client.predicates import PredicateClient
from mnestic.starter.client.records import EpisodeClient, RecordClient, WorkingMemoryClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.maintenance_client import MaintenanceClient

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
ENTRY = Entry(
    id="e", session_id="s", source_id="1", entry_type="knowledge", content="Tea is hot.", at=AT
)
MESSAGE = Resource(session_id="s", source_id="1", channel="c", speaker="Mara", content="Hi.", at=AT)
CLAIM = Claim(id="c", subject="Mara", predicate="likes", object="tea", said_at=AT,
              source=ClaimSource(extractor="rules", session_id="s", source_id="1"))  # fmt: skip
HEADER = HeaderLine(tenant_id="t", agent_id="a", at=AT)
PLAN = parse_plan(
    "name: p\nnodes:\n  - {id: a, kind: emit, channel: c, content: x, next: end}\n", source="p"
)
JOB = {"job_id": "no-such-job"}
WRITE_ONCE = dict(agent_id="ada", key="k", request={}, result_type=Entry, work=lambda m: m.add("Tea."))  # noqa: C408  # fmt: skip
QUERY_MORE = ("subject", "session_id", "channel", "tags", "entry_types", "mode", "excluded")


async def act(request_id: str) -> Entry:  # noqa: ARG001 - nothing is acted on
    """Something that is done once."""
    return ENTRY


# What each method is called with where nothing is wrong.
CALLS: Mapping[type, Mapping[str, Mapping[str, Any]]] = {
    MemoryClient: {
        "add": {"content": "Tea is hot."},
        "auto_retrieve": {"message": "Tea?", "channel": "c"},
        "context_for_query": {"query": "Tea?"},
        "forget": {"topic": "Paris"},
        "import_lines": {"lines": (HEADER, EndLine(lines=1))},
        "ingest": {"messages": (MESSAGE,)},
        "retrieve": {"text": "Tea?"},
        "preview_forget": {"topic": "Paris"},
        "why": {"text": "Tea?", "expect": "e"},
    },
    FactClient: {
        "add": {"subject": "Mara", "predicate": "likes", "value": "tea"},
        "delete": {"fact_id": "f"},
        "change": {"fact_id": "f", "value": "tea"},
        "messages": {"claims": (CLAIM,)},
        "history": {"subject": "Mara", "predicate": "likes"},
        "quotes": {"claims": (CLAIM,)},
        "find_ids": {"fact_id": "f"},
        "list": {},
        "reactivate": {"fact_id": "f"},
        "why": {"fact_id": "f"},
        "world": {"subject": "Mara"},
    },
    EntryClient: {
        "change": {"entry_id": "e"},
        **{one: {"entry_id": "e"} for one in ("archive", "provenance", "reinstate", "restore")},
        "list_archived": {"cursor": None},
        "find_archived_ids": {"entry_id": "e"},
        "find_ids": {"entry_id": "e"},
        "get": {"entry_id": "e"},
        "list": {"query": EntryQuery()},
        "list_facts": {"entry": ENTRY},
        "remove": {"entry_id": "e"},
    },
    SettingsClient: {
        "change": {},
        "reset": {},
    },
    ContextClient: {
        "conversation": {"session_id": "s"},
        "list_messages": {},
        "historical": {"subject": "Mara"},
        "learning": {"topic": "tea"},
        "list_patterns": {"topic": "tea"},
        "list_categories": {},
        "list_summaries": {"cursor": None},
    },
    RecordClient: {
        "delete": {"namespace": "n", "key": "k"},
        "get": {"namespace": "n", "key": "k"},
        "list": {},
        "set": {"namespace": "n", "key": "k", "value": 1},
    },
    ParkedClient: {
        "drop": {"messages": ()},
        "list": {},
        "retry": {"messages": ()},
    },
    EpisodeClient: {"list": {}},
    RetrievalLogClient: {"list": {}},
    GraphClient: {"read": {"name": "Mara"}},
    EventClient: {"list": {}},
    MessageClient: {
        "append": {"messages": (MESSAGE,)},
    },
    ForgettingClient: {
        "start": {"topic": "Paris"},
        "report": {"topic": "Paris", "done": Purged()},
        "lift_keep_out": {"keep_out_id": "f1"},
    },
    WorkingMemoryClient: {
        "get": {"session_id": "s"},
    },
    MnesticClient: {
        "cancel_job": JOB,
        "costs": {},
        "describe_job": JOB,
        "diff_job": JOB,
        "extend_wait": {**JOB, "until": AT},
        "find_open_wait": JOB,
        "find_job_status": JOB,
        "fork_job": JOB,
        "inbox": {"agent_id": "ada"},
        "job_history": JOB,
        "job_plan": JOB,
        "extract": {"agent_id": "ada", "content": "Tea is hot."},
        "job_resumption": JOB,
        "job_transcript": JOB,
        "job_link": JOB,
        "find_job_ids": JOB,
        **{name: {} for name in ("audit", "list_agents", "list_jobs")},
        "memory": {"agent_id": "ada"},
        "override_job": {**JOB, "reason": "so"},
        "pause_job": JOB,
        "poke_job": JOB,
        "resume_job": JOB,
        "start_job": {"plan": PLAN, "agent_id": "ada", "session_id": "s"},
        "unpause_job": JOB,
        "wait_for_result": JOB,
        "claim_request": {"key": "k", "request": {}},
        "write_once": WRITE_ONCE,
        "act_once": {"key": "k", "request": {}, "result_type": Entry, "act": act},
    },
    InboxClient: {
        "correction": {"content": "Tea is cold."},
        "insight": {"content": "Tea is hot."},
        "interaction": {"content": "Hi.", "speaker": "Mara"},
    },
    PredicateClient: {"set": {"name": "likes"}},
    MaintenanceClient: {
        "set_policy": {"path": "nightly.times.hour", "value": 4},
        "start": {"kind": "nightly"},
        "find_progress": {"run_id": "nightly-1"},
        "describe_run": {"run_id": "nightly-1"},
        "list_reports": {},
        "list_embeddings": {},
        "switch_embeddings_back": {"agent_id": "ada"},
        "accept_embeddings": {"agent_id": "ada"},
        "pause": {"kind": "nightly"},
        "resume": {"kind": "nightly"},
        "backfill": {"kind": "nightly", "since": AT, "until": AT},
    },
    BackupClient: {
        "create": {},
        "verify": {"backup_id": "20260301T120000Z-00000000"},
        "restore": {"backup_id": "20260301T120000Z-00000000"},
    },
}
# The names that `**more` stands for.
MORE: Mapping[tuple[type, str], tuple[str, ...]] = {
    (MemoryClient, "add"): ("tags", "aliases", "speaker", "session_id", "channel"),
    (MemoryClient, "auto_retrieve"): ("question",),
    (EntryClient, "change"): ("content", "subjects", "tags", "aliases", "parent", "status"),
    (SettingsClient, "change"): ("language", "timezone", "obsidian_context_notes"),
    (MemoryClient, "context_for_query"): QUERY_MORE,
    (MemoryClient, "retrieve"): QUERY_MORE,
    (MemoryClient, "why"): QUERY_MORE,
}
MADE: Mapping[type, BaseModel] = {
    Entry: ENTRY,
    EntryQuery: EntryQuery(),
    Resource: MESSAGE,
    Claim: CLAIM,
    Statement: Statement(subject="Mara", predicate="likes", object="tea"),
    MessageSignal: MessageSignal(content="Hi.", speaker="Mara"),
    ToolOutput: ToolOutput(tool="t", content="1"),
}
