"""What a tenant can try from Python with what it knows of another's memory: a case for each way in."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from mnestic.memory.forgetting.export_lines import (
    ClaimLine,
    EndLine,
    HeaderLine,
    MessageLine,
    SessionLine,
)
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.conversations import Conversation, ConversationSession, Turn
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.access.api_keys import ApiKeyClient
from mnestic.starter.access.audit import AuditClient
from mnestic.starter.client.ingest_status import find_delay
from mnestic.starter.client.ingestion import receive_conversation, start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import Deployment
from mnestic.starter.health.memory import check_memory
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.maintenance_client import MaintenanceClient
from tests.security.clients.own_calls import NOON, acted_once, claimed, extracted, written_once
from tests.security.clients.samples import grown, sampled
from tests.security.tenants import AGENT, FIRST, QUESTION, SECRET, SESSION, TOPIC, Known

Case: TypeAlias = Callable[[Any, Known], Awaitable[Any]]
PLAN = Plan.model_validate(
    {
        "name": "mine",
        "nodes": [
            {
                "id": "ask",
                "kind": "wait",
                "key": "k",
                "timeout": "1d",
                "on": {"resumed": "end", "timeout": "end"},
            }
        ],
    }
)
# What has no case, and why.
WITHOUT_TENANT = {
    "MnesticClient.connect": "it takes settings, whose tenant is the one that it is of",
    "MnesticClient.close": "it takes and gives nothing",
    "Deployment.list_builds": "builds belong to whoever runs the workers of all tenants",
    "Deployment.make_current": "likewise",
    "Deployment.find_standstill": "likewise",
    "wait_for_end": "it takes a handle of Temporal's client, which reaches its whole namespace",
    "cursor_of": "it takes the description of a job, which nobody has of another tenant's",
}

# Cases of which the agents of a tenant do know, and why.
SHARED_BY_AGENTS = {
    "records.set": "an operation's key is the tenant's: whoever uses one that another agent used is refused",
    "forgetting.report": "plans are the tenant's: those that speak of a topic are named",
}


def message() -> Resource:
    """A message where the victim has one."""
    return Resource(
        session_id=SESSION,
        source_id=FIRST,
        channel="chat",
        speaker="Mara",
        content="I live here.",
        at=NOON,
    )


async def received(client: MnesticClient) -> list[Any]:
    """A conversation, as it is received where the victim has one."""
    turn = Turn(id=FIRST, speaker="Mara", text="I live here.", at=NOON)
    session = ConversationSession(id=SESSION, at=NOON, turns=(turn,))
    conversation = Conversation(title="c", sessions=(session,))
    batches = receive_conversation(client, conversation, agent_id=AGENT, channel="chat")
    return [batch async for batch in batches]


async def forked(client: MnesticClient, known: Known) -> str:
    """A fork of a job of one's own, at a wait that is not."""
    own = await client.start_job(PLAN, agent_id=AGENT, session_id=SESSION, job_id="own")
    async with asyncio.timeout(30):
        while await client.find_open_wait(own) is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    return await client.fork_job(own, wait=known.wait)


async def changed(memory: MemoryClient, known: Known) -> Any:
    """An entry of one's own, put below one that is not."""
    own = await memory.add("Mine.")
    return await memory.entries.change(own.id, parent=known.entry.id)


CLIENT_CASES: Mapping[str, Case] = {
    "start_job": lambda c, k: c.start_job(
        PLAN, agent_id=AGENT, session_id=SESSION, job_id=k.job, inputs={"wait": k.wait}
    ),
    "fork_job": lambda c, k: c.fork_job(k.job, wait=k.wait, as_job="mine"),
    "fork_job of one's own": forked,
    "fork_job that is over": lambda c, k: c.fork_job(k.finished, plan=PLAN, session_id="new"),
    "resume_job": lambda c, k: c.resume_job(k.job, {"yes": 1}, wait_id=k.wait),
    "resume_job by signal": lambda c, k: c.resume_job(k.job, 1, wait_id=k.wait, by="signal"),
    "resume_job again": lambda c, k: c.resume_job(
        k.finished, request_id=k.request, expected_sha256=k.sha256
    ),
    "override_job": lambda c, k: c.override_job(k.job, reason="mine", request_id=k.request),
    "extend_wait": lambda c, k: c.extend_wait(k.job, by=timedelta(days=1), wait_id=k.wait),
    "find_open_wait": lambda c, k: c.find_open_wait(k.job),
    "find_job_status": lambda c, k: c.find_job_status(k.job),
    "pause_job": lambda c, k: c.pause_job(k.job),
    "unpause_job": lambda c, k: c.unpause_job(k.job),
    "poke_job": lambda c, k: c.poke_job(k.job),
    "cancel_job": lambda c, k: c.cancel_job(k.job),
    "find_job_ids": lambda c, k: c.find_job_ids(k.job),
    "find_job_ids by a beginning": lambda c, k: c.find_job_ids(k.job[:4]),
    "list_agents": lambda c, k: c.list_agents(cursor=k.cursors["agents"]),
    "list_agents of all": lambda c, k: c.list_agents(),  # noqa: ARG005
    "list_agents of a name": lambda c, k: c.list_agents(agent_id=AGENT),  # noqa: ARG005
    "list_jobs": lambda c, k: c.list_jobs(cursor=k.cursors["jobs"]),
    "list_jobs that wait": lambda c, k: c.list_jobs(waiting=True, cursor=k.cursors["jobs"]),
    "list_jobs of a plan": lambda c, k: c.list_jobs(
        state="waiting",
        agent_id=AGENT,
        plan=f"{SECRET}-plan",
        cursor=k.cursors["jobs"],
    ),
    "describe_job": lambda c, k: c.describe_job(k.job),
    "job_transcript": lambda c, k: c.job_transcript(k.finished),
    "job_history": lambda c, k: c.job_history(k.finished),
    "diff_job": lambda c, k: c.diff_job(k.job, k.wait),
    "job_plan": lambda c, k: c.job_plan(k.finished),
    "job_resumption": lambda c, k: c.job_resumption(k.job, k.wait),
    "wait_for_result": lambda c, k: c.wait_for_result(k.finished),
    "job_link": lambda c, k: given(c.job_link(k.job)),
    "costs": lambda c, k: c.costs(since=NOON, until=NOON + timedelta(days=999), agent_id=AGENT),  # noqa: ARG005
    "memory": lambda c, k: c.memory(AGENT).records.get("secrets", "place"),  # noqa: ARG005
    "inbox": lambda c, k: c.inbox(AGENT).status(),  # noqa: ARG005
    "predicates": lambda c, k: c.predicates().list(),  # noqa: ARG005
    "api_keys": lambda c, k: c.api_keys().revoke(k.api_key),
    "audit": lambda c, k: c.audit().list(key_id=k.api_key, cursor=k.cursors["audit"]),
    "write_once": lambda c, k: written_once(c, k.operation),
    "act_once": lambda c, k: acted_once(c, k.operation),
    "extract": lambda c, k: extracted(c),  # noqa: ARG005
    "claim_request": lambda c, k: claimed(c, k.operation),
    "importance": lambda c, k: c.importance().get(),  # noqa: ARG005
    "backups": lambda c, k: c.backups().list(),  # noqa: ARG005
    "cache_counts": lambda c, k: given(type(c.cache_counts()).__name__),  # noqa: ARG005 - of the process
}
MEMORY_CASES: Mapping[str, Case] = {
    "records.get": lambda m, k: m.records.get("secrets", "place"),  # noqa: ARG005
    "records.set": lambda m, k: m.records.set("secrets", "place", 1, operation_key=k.operation),
    "records.set at a version": lambda m, k: m.records.set(  # noqa: ARG005
        "secrets", "place", 1, expected_version=1
    ),
    "records.delete": lambda m, k: m.records.delete("secrets", "place", expected_version=1),  # noqa: ARG005
    "records.list": lambda m, k: m.records.list(cursor=k.cursors["records"]),
    "records.list of all": lambda m, k: m.records.list("secrets"),  # noqa: ARG005
    "episodes.list": lambda m, k: m.episodes.list(cursor=k.cursors["episodes"]),
    "episodes.list of a session": lambda m, k: m.episodes.list(session_id=SESSION),  # noqa: ARG005
    "working_memory.get": lambda m, k: m.working_memory.get(SESSION),  # noqa: ARG005
    "messages.append": lambda m, k: m.messages.append([message()]),  # noqa: ARG005
    "ingest": lambda m, k: m.ingest(
        [IncomingMessage(resource=message(), corrects=k.entry.source_id)]
    ),
    "messages.count": lambda m, k: m.messages.count(),  # noqa: ARG005
    "parked.list": lambda m, k: m.parked.list(),  # noqa: ARG005
    "parked.retry": lambda m, k: m.parked.retry(k.lessons),
    "parked.drop": lambda m, k: m.parked.drop(k.lessons),
    "export": lambda m, k: exported(m),  # noqa: ARG005
    "import_lines": lambda m, k: imported(m, k.claims),
    "preview_forget": lambda m, k: m.preview_forget(TOPIC),  # noqa: ARG005
    "forget": lambda m, k: m.forget(TOPIC, confirm=k.token),
    "forget what is one's own": lambda m, k: forgotten(m),  # noqa: ARG005
    "forgetting.start": lambda m, k: m.forgetting.start(TOPIC, confirm=k.token),
    "forgetting.keep_outs": lambda m, k: m.forgetting.keep_outs(),  # noqa: ARG005
    "forgetting.lift_keep_out": lambda m, k: m.forgetting.lift_keep_out(k.purged.forgetting_id),
    "forgetting.report": lambda m, k: m.forgetting.report(SECRET, k.purged),
    "auto_retrieve": lambda m, k: m.auto_retrieve(QUESTION, "chat"),  # noqa: ARG005
    "context_for_query": lambda m, k: m.context_for_query(QUESTION),  # noqa: ARG005
    "contexts.conversation": lambda m, k: m.contexts.conversation(SESSION),  # noqa: ARG005
    "contexts.learning": lambda m, k: m.contexts.learning(SECRET),  # noqa: ARG005
    "contexts.historical": lambda m, k: m.contexts.historical("Mara"),  # noqa: ARG005
    "contexts.list_messages": lambda m, k: m.contexts.list_messages(
        SESSION, cursor=k.cursors["entries"]
    ),
    "contexts.list_patterns": lambda m, k: m.contexts.list_patterns(),  # noqa: ARG005
    "contexts.list_categories": lambda m, k: m.contexts.list_categories(),  # noqa: ARG005
    "contexts.summarize": lambda m, k: m.contexts.summarize(),  # noqa: ARG005
    "contexts.list_summaries": lambda m, k: m.contexts.list_summaries(
        cursor=k.cursors["summaries"]
    ),
    "retrieve": lambda m, k: m.retrieve(QUESTION),  # noqa: ARG005
    "retrieve of a kind": lambda m, k: m.retrieve(QUESTION, kinds=["fact", "episode"]),  # noqa: ARG005
    "retrieve in a session": lambda m, k: m.retrieve(QUESTION, session_id=k.entry.session_id),
    "why": lambda m, k: m.why(QUESTION, expect=k.entry.id),
    "settings.get": lambda m, k: m.settings.get(),  # noqa: ARG005
    "settings.change": lambda m, k: m.settings.change(auto_retrieve_min_score=0.5),  # noqa: ARG005
    "settings.reset": lambda m, k: m.settings.reset("auto_retrieve_max_results"),  # noqa: ARG005
    "retrieval_log.list": lambda m, k: m.retrieval_log.list(cursor=k.cursors["retrievals"]),
    "add": lambda m, k: m.add("Mine.", parent=k.entry.id),
    "add where one is": lambda m, k: m.add("Mine.", session_id=SESSION, source_id=FIRST),  # noqa: ARG005
    "entries.get": lambda m, k: m.entries.get(k.entry.id),
    "entries.find_ids": lambda m, k: m.entries.find_ids(k.entry.id[:8]),
    "facts.find_ids": lambda m, k: m.facts.find_ids(k.fact.id[:8]),
    "entries.list": lambda m, k: m.entries.list(EntryQuery(), cursor=k.cursors["entries"]),
    "entries.list of what is derived": lambda m, k: m.entries.list(  # noqa: ARG005
        EntryQuery(kinds=("fact", "episode"))
    ),
    "entries.get of a fact": lambda m, k: m.entries.get(k.fact.id),
    "entries.change of a fact": lambda m, k: m.entries.change(k.fact.id, content="Mine."),
    "entries.remove of a fact": lambda m, k: m.entries.remove(k.fact.id),
    "entries.list below": lambda m, k: m.entries.list(EntryQuery(parent=k.entry.id)),
    "entries.provenance": lambda m, k: m.entries.provenance(k.entry.id),
    "entries.list_facts": lambda m, k: m.entries.list_facts(k.entry),
    "entries.change": lambda m, k: m.entries.change(k.entry.id, content="Mine."),
    "entries.change of one's own": changed,
    "entries.remove": lambda m, k: m.entries.remove(k.entry.id, facts=True),
    "entries.reinstate": lambda m, k: m.entries.reinstate(k.entry.id),
    "entries.archive": lambda m, k: m.entries.archive(k.entry.id),
    "entries.restore": lambda m, k: m.entries.restore(k.archived),
    "entries.list_archived": lambda m, k: m.entries.list_archived(cursor=k.cursors["archived"]),
    "entries.find_archived_ids": lambda m, k: m.entries.find_archived_ids(k.archived[:8]),
    "stats": lambda m, k: m.stats(),  # noqa: ARG005
    "graph.read": lambda m, k: m.graph.read("Mara", depth=2),  # noqa: ARG005
    "facts.list": lambda m, k: m.facts.list(subject="Mara", cursor=k.cursors["facts"]),
    "facts.now": lambda m, k: m.facts.now(),  # noqa: ARG005
    "facts.history": lambda m, k: m.facts.history("Mara", "lives_in"),  # noqa: ARG005
    "facts.world": lambda m, k: m.facts.world("Mara"),  # noqa: ARG005
    "facts.add": lambda m, k: m.facts.add("Mara", "lives_in", "Umea"),  # noqa: ARG005
    "facts.change": lambda m, k: m.facts.change(k.fact.id, "Umea"),
    "facts.messages": lambda m, k: m.facts.messages(k.claims),
    "facts.delete": lambda m, k: m.facts.delete(k.fact.id),
    "facts.reactivate": lambda m, k: m.facts.reactivate(k.fact.id),
    "facts.why": lambda m, k: m.facts.why(k.fact.id),
    "facts.quotes": lambda m, k: m.facts.quotes(k.claims),
    "events.list": lambda m, k: m.events.list(after=k.signal),
    "events.list of all": lambda m, k: m.events.list(),  # noqa: ARG005
    "events.last_number": lambda m, k: m.events.last_number(),  # noqa: ARG005
    "events.trim": lambda m, k: m.events.trim(datetime.now(UTC)),  # noqa: ARG005
}
INBOX_CASES: Mapping[str, Case] = {
    "interaction": lambda i, k: i.interaction(
        "Mine.", speaker="Mara", session_id=SESSION, source_id=k.entry.source_id
    ),
    "insight": lambda i, k: i.insight("Mine.", subject="Mara", source_id=k.entry.source_id),
    "correction": lambda i, k: i.correction(
        "Mara lives here.", session_id=SESSION, corrects=k.entry.source_id, source_id="mine"
    ),
    "status": lambda i, k: i.status(),  # noqa: ARG005
}
PREDICATE_CASES: Mapping[str, Case] = {
    "list": lambda p, k: p.list(),  # noqa: ARG005
    "set": lambda p, k: p.set("lives_in", cardinality="multi"),  # noqa: ARG005
}
IMPORTANCE_CASES: Mapping[str, Case] = {
    "get": lambda i, k: i.get(),  # noqa: ARG005
    "change": lambda i, k: i.change(recency=0.2),  # noqa: ARG005
    "reset": lambda i, k: i.reset("recency"),  # noqa: ARG005
}
API_KEY_CASES: Mapping[str, Case] = {
    "create": lambda a, k: created(a),  # noqa: ARG005
    "list": lambda a, k: a.list(cursor=k.cursors["api_keys"]),
    "list of all": lambda a, k: a.list(),  # noqa: ARG005
    "revoke": lambda a, k: a.revoke(k.api_key),
    "verify": lambda a, k: a.verify(f"mnk.other.{k.api_key}.{'s' * 43}"),
}
AUDIT_CASES: Mapping[str, Case] = {
    "list": lambda a, k: a.list(key_id=k.api_key, denied=True, cursor=k.cursors["audit"]),
    "list of an agent": lambda a, k: audited(a),  # noqa: ARG005
}
MAINTENANCE_CASES: Mapping[str, Case] = {
    "policy": lambda m, k: m.policy(),  # noqa: ARG005
    "set_policy": lambda m, k: m.set_policy("nightly.times.hour", 4),  # noqa: ARG005
    "start": lambda m, k: maintained(m),  # noqa: ARG005
    "list_reports": lambda m, k: m.list_reports("nightly"),  # noqa: ARG005
    "list_last_reports": lambda m, k: m.list_last_reports(),  # noqa: ARG005
    "growth": lambda m, k: grown(m),  # noqa: ARG005
    "list_samples": lambda m, k: sampled(m),  # noqa: ARG005
    "sample_index": lambda m, k: m.sample_index(),  # noqa: ARG005
    "find_progress": lambda m, k: m.find_progress(k.run),
    "describe_run": lambda m, k: m.describe_run(k.run),
    "list_embeddings": lambda m, k: m.list_embeddings(cursor=k.cursors["agents"]),
    "switch_embeddings_back": lambda m, k: m.switch_embeddings_back(AGENT),  # noqa: ARG005
    "accept_embeddings": lambda m, k: m.accept_embeddings(AGENT),  # noqa: ARG005
    "list_schedules": lambda m, k: m.list_schedules(),  # noqa: ARG005
    "pause": lambda m, k: m.pause("nightly", note="mine"),  # noqa: ARG005
    "resume": lambda m, k: m.resume("nightly"),  # noqa: ARG005
    "backfill": lambda m, k: m.backfill("nightly", since=NOON, until=NOON + timedelta(days=1)),  # noqa: ARG005
}
BACKUP_CASES: Mapping[str, Case] = {
    "create": lambda b, k: backed_up(b),  # noqa: ARG005
    "list": lambda b, k: b.list(),  # noqa: ARG005
    "verify": lambda b, k: b.verify(k.backup),
    "restore": lambda b, k: b.restore(k.backup),
    "restore in place of what is there": lambda b, k: b.restore(k.backup, replace=True),
    "prune": lambda b, k: b.prune(keep=1),  # noqa: ARG005
    "count_rows": lambda b, k: counted(b),  # noqa: ARG005
}
DEPLOYMENT_CASES: Mapping[str, Case] = {
    "find_move": lambda d, k: d.find_move(k.job),
    "find_safe_move": lambda d, k: d.find_safe_move(k.job),
    "move": lambda d, k: d.move(k.job),
}
FUNCTION_CASES: Mapping[str, Case] = {
    "start_ingest": lambda c, k: start_ingest(c, agent_id=AGENT),  # noqa: ARG005
    "receive_conversation": lambda c, k: received(c),  # noqa: ARG005
    "check_memory": lambda c, k: check_memory(c),  # noqa: ARG005
    "find_delay": lambda c, k: find_delay(c, agent_id=AGENT),  # noqa: ARG005
}


def deployment(client: MnesticClient) -> Deployment:
    """The workers, as a client of a tenant reaches them."""
    address = client.endpoints.temporal_address
    return Deployment(client.temporal, settings=client.settings, address=address)


OPENED: Mapping[str, tuple[Callable[[MnesticClient], Any], Mapping[str, Case]]] = {
    "MnesticClient": (lambda client: client, CLIENT_CASES),
    "MemoryClient": (lambda client: client.memory(AGENT), MEMORY_CASES),
    "InboxClient": (lambda client: client.inbox(AGENT), INBOX_CASES),
    "PredicateClient": (lambda client: client.predicates(), PREDICATE_CASES),
    "ImportanceClient": (lambda client: client.importance(), IMPORTANCE_CASES),
    "ApiKeyClient": (lambda client: client.api_keys(), API_KEY_CASES),
    "AuditClient": (lambda client: client.audit(), AUDIT_CASES),
    "MaintenanceClient": (lambda client: client.maintenance, MAINTENANCE_CASES),
    "BackupClient": (lambda client: client.backups(), BACKUP_CASES),
    "Deployment": (deployment, DEPLOYMENT_CASES),
    "": (lambda client: client, FUNCTION_CASES),
}
CASES = {
    f"{client}.{name}".removeprefix("."): (opened, case)
    for client, (opened, cases) in OPENED.items()
    for name, case in cases.items()
}


async def created(keys: ApiKeyClient) -> Any:
    """What a key of one's own allows; its id and its text are new each time."""
    return (await keys.create(agents=[AGENT], actions=["read"])).key.scope


async def audited(audit: AuditClient) -> Any:
    """Which targets the log of one's own agent names."""
    found, _ = await audit.list(agent_id=AGENT)
    return sorted({entry.target for entry in found if entry.action == "entry.search"})


async def maintained(maintenance: MaintenanceClient) -> Any:
    """What a run of one's own has counted."""
    report = await (await maintenance.start("nightly", agent_id=AGENT)).result()
    return report.counts


async def backed_up(backups: BackupClient) -> Any:
    """Of which tenants a backup of one's own has rows."""
    return (await backups.create()).manifest.tenants


async def counted(backups: BackupClient) -> Any:
    """How many entries a backup of one's own would have."""
    return (await backups.count_rows())["entry"]


async def given(value: Any) -> Any:
    """A value that was there at once."""
    return value


async def exported(memory: MemoryClient) -> list[Any]:
    """All lines of an export."""
    return [line async for line in memory.export()]


async def imported(memory: MemoryClient, claims: Sequence[Claim]) -> Any:
    """An export that says of itself that it is of what is not one's own."""
    lines = [
        HeaderLine(tenant_id="t", agent_id=AGENT, at=NOON),
        MessageLine(message=message()),
        *(ClaimLine(claim=claim) for claim in claims),
        SessionLine(session_id=SESSION, state={}),
    ]
    return await memory.import_lines([*lines, EndLine(lines=len(lines))])


async def forgotten(memory: MemoryClient) -> Any:
    """What comes of forgetting what the agent itself has of the topic, which is nothing."""
    shown = await memory.preview_forget(TOPIC)
    return await memory.forget(TOPIC, confirm=shown.token)
