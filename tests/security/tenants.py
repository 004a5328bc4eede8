"""A tenant with something in every store, and what the others may know of it: ids, cursors, whole values.

What is done with that by another tenant must find nothing, change nothing, and be answered as if nothing
of it existed.
"""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict
from temporalio import activity
from temporalio.client import WorkflowHandle

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.forgetting.requests import Purged
from mnestic.memory.graph.graph import Node
from mnestic.memory.jobs.tool_results import find_reference
from mnestic.memory.jobs.waits import ResumeReceipt
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.names import INTERACTION, inbox_workflow_id, job_workflow_id
from mnestic.memory.sharing.shared_operations import LockArguments
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.memory_wiring import auto_retriever
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.cursors import encode_cursor
from mnestic.worker import activities_of, make_worker

AGENT, FIRST = "otto", "their-message"  # no part of a random id in hexadecimal digits
TOPIC = "cold lake"
SECRET = "Vasterbotten"  # stands in every text of the victim
SESSION = "s1"
CONTRACT = "otto"  # the selector of a contract
QUESTION = "Where does Mara live?"
SECRET_PLAN = read_plan(Path(__file__).with_name("secret_plan.yaml"))
_OTHER_DIGITS = str.maketrans("0123456789abcdef", "123456789abcdef0")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{12,64}\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[0-9:.]*(Z|[+-]\d\d:\d\d)")
_SHORTEST = 8  # characters of an id that cannot stand in another one by chance


class Known(BaseModel):
    """What somebody has learned of a memory: what its owner's calls take and give."""

    model_config = ConfigDict(frozen=True)

    job: str
    backup: str
    run: str
    finished: str
    wait: str
    sha256: str
    snapshot: str
    request: str = "their-request"
    operation: str = "their-write"
    result: Mapping[str, Any]
    entry: Entry
    archived: str
    fact: Fact
    claims: tuple[Claim, ...]
    parked: tuple[IncomingMessage, ...]
    purged: Purged
    token: str  # of what would be forgotten of TOPIC
    signal: int
    api_key: str
    contract: str
    cursors: Mapping[str, str | None]

    def of_nothing(self) -> "Known":
        """The same of something that does not exist anywhere: each id has other digits."""
        text = self.model_dump_json()
        for name in {*_ID.findall(text), self.backup[-8:], self.request, self.operation, FIRST}:
            text = text.replace(name, name.translate(_OTHER_DIGITS))
        nothing = Known.model_validate_json(text)
        changes = {"signal": self.signal + 1, "cursors": dict.fromkeys(self.cursors)}
        return nothing.model_copy(update=changes)

    @property
    def names(self) -> list[str]:
        """All ids and names that are known, the longest first; no text, which nobody may be told again."""
        strings = set(_strings(self.model_dump(mode="json")))
        ids = {text for text in strings if len(text) >= _SHORTEST and SECRET not in text}
        return sorted(ids, key=len, reverse=True)


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A tenant that others try to reach."""

    settings: Settings
    known: Known
    ids: frozenset[str]  # all that its rows hold

    @property
    def tenant_id(self) -> str:
        """The tenant."""
        return self.settings.tenant_id


@activity.defn(name="echo")
async def echo(value: Any) -> Any:
    """A tool of somebody else, which returns what it is given."""
    return value


@asynccontextmanager
async def running_worker(client: MnesticClient) -> AsyncIterator[None]:
    """A worker on a client's task queue, for all tenants that use it, with the vault of the client's tenant."""
    given = activities_of(
        client._memory,
        model=LocalChatModel(),
        summariser=LocalSummariser(),
        auto=auto_retriever(client.settings, client._models),
    )
    admin_url = client.settings.database_admin_url
    assert admin_url is not None
    maintenance = make_maintenance_worker(
        client.temporal,
        client.settings,
        activities=maintenance_activities(client._memory, admin_url=admin_url.get_secret_value()),
    )
    async with (
        make_worker(client.temporal, client.settings, activities=[*given, echo]),
        maintenance,
    ):
        yield


def as_tenant(client: MnesticClient, tenant_id: str | None = None) -> MnesticClient:
    """A client of another tenant, by default of one that is new, in the same process: it has the same caches."""
    name = tenant_id or f"t-{uuid.uuid4().hex[:8]}"
    return MnesticClient(
        client.temporal,
        client._memory,
        settings=client.settings.model_copy(update={"tenant_id": name, "obsidian_vault": None}),
        endpoints=client.endpoints,
        models=client._models,
    )


async def set_rules(client: MnesticClient) -> None:
    """A setting, readers, two versions of a contract, whose segment is named after the secret, and a document."""
    await client.memory(AGENT).settings.change(auto_retrieve_max_results=7)
    await client.memory(AGENT).readers.set("channel", SECRET, ["user.mara"])
    await client.memory(AGENT).add(f"My cabin is in {SECRET}.", readers=["user.mara"])
    vector = {"enabled": True, "collections": [{"collection_id": "guides"}]}
    for budget in (1000, 2000):
        segments = [{"segment_id": SECRET, "max_tokens": budget}]
        short_term = {"enabled": True, "max_tokens": budget, "segments": segments}
        document = {"Memory": {"short_term": short_term, "vector": vector}}
        await client.contracts().apply(CONTRACT, document)
    await write_a_document(client)


async def write_a_document(client: MnesticClient) -> None:
    """A document of a collection."""
    contract = await client.contract(AGENT)
    document = {"id": "their-guide", "content": f"A guide to {SECRET}.", "source": SECRET}
    await contract.upsert("guides", {**document, "metadata": {"place": SECRET}})


async def share_something(client: MnesticClient) -> None:
    """An event, how far a subscription has come, a namespace that all agents may read, a lock, and a node of the graph."""
    grant = {"namespace": SESSION, "access_level": "admin", "agents_allowed": ["*"]}
    document = {"Memory": {"shared": {"enabled": True, "namespaces": [grant]}}}
    await client.contracts().apply("sharing", document)
    caller = client_caller(client._memory, tenant_id=client.settings.tenant_id, agent_id=AGENT)
    async with caller(write=True) as transaction:
        transaction.channels.publish("news", ["news"], {"place": SECRET}, event_id="their-event")
        await transaction.channels.save_place("their-subscription", "news", 1)
        await transaction.shared_memory.lock(
            LockArguments(namespace=SESSION, key=SECRET, timeout_ms=600_000)
        )
        await transaction.facts.graph.put_node(Node(key="lake", name=SECRET, type="Lake"))


async def remember_everything(settings: Settings, admin_url: str) -> Victim:
    """Makes a tenant whose agent has something in every store, two jobs, of which one waits, and a vault."""
    vault = settings.data_dir / "vault"
    vault.mkdir(parents=True)
    (vault / "Mara.md").write_text(f"Mara lives in {SECRET}. #mnestic", encoding="utf-8")
    settings = settings.model_copy(
        update={"obsidian_vault": vault, "backup_directory": settings.data_dir / "backups"}
    )
    async with await MnesticClient.connect(settings) as client, running_worker(client):
        memory = client.memory(AGENT)
        await _remember_records(memory)
        await memory.add(
            f"I live in {SECRET}.", speaker="Mara", session_id=SESSION, source_id=FIRST
        )
        await memory.add(f"The lake of {SECRET} is cold.", tags=["lake"], source_id="v2")
        await memory.add("Project Falcon starts in August.", source_id="v3")
        for source_id in ("v4", "v5"):
            long_ago = await memory.add(f"{SECRET} was warm in {source_id}.", source_id=source_id)
            await memory.entries.archive(long_ago.id)
        wrong = await memory.add("The pier is closed.", source_id="v6")
        await memory.add(
            "The pier is open.", entry_type="correction", parent=wrong.id, source_id="v7"
        )
        await memory.facts.add("Mara", "lives_in", SECRET)
        await memory.facts.add("Mara", "visits", f"{SECRET} fair")
        await asyncio.gather(set_rules(client), share_something(client))
        await client.predicates().set("attends", cardinality="single", category="events")
        await client.inbox(AGENT).interaction(f"I work in {SECRET}.", speaker="Mara")
        inbox = client.temporal.get_workflow_handle(inbox_workflow_id(settings.tenant_id, AGENT))
        await inbox.signal(INTERACTION, {"speaker": SECRET, "content": None})  # which is parked
        await (await start_ingest(client, agent_id=AGENT)).result()
        async with asyncio.timeout(30):
            while not (await memory.parked.list())[0] or (await memory.messages.count()).waiting:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        finished = await _waiting_job(client, session_id=SESSION)
        await client.resume_job(finished, {"place": SECRET}, request_id="their-request")
        await client.wait_for_result(finished)
        waiting = await _waiting_job(client, session_id="s2")
        await memory.auto_retrieve(QUESTION, "chat")
        await client.maintenance.set_policy("nightly.summarise_above_messages", 0)
        await (await client.maintenance.start("nightly")).result()
        shown = await memory.preview_forget("project falcon")
        forgetting = await memory.forgetting.start("project falcon", confirm=shown.token)
        purged = await forgetting.result()
        known = await _known(client, waiting=waiting, finished=finished, purged=purged)
    rows = rows_of(admin_url, settings.tenant_id)
    assert not [table for table, found in rows.items() if not found], "the victim lacks something"
    ids = {each for found in rows.values() for row in found for each in _ID.findall(row)}
    return Victim(settings=settings, known=known, ids=frozenset(ids))


async def _remember_records(memory: MemoryClient) -> None:
    await memory.records.set("secrets", "place", {"name": SECRET}, operation_key="their-write")
    await memory.history.append(SESSION, [{"role": "user", "content": SECRET}])


def rows_of(admin_url: str, tenant_id: str, *, agent_id: str | None = None) -> dict[str, list[str]]:
    """All rows of a tenant as text, by table; with an agent, only its own."""
    owner = "tenant_id" if agent_id is None else "agent_id"
    tables = """
        SELECT table_name FROM information_schema.columns NATURAL JOIN information_schema.tables
         WHERE table_schema = 'mnestic' AND column_name = %s AND table_type = 'BASE TABLE'
    """
    one = sql.SQL("SELECT {}, t::text FROM mnestic.{} AS t WHERE tenant_id = {} AND {} = {}")
    with psycopg.connect(admin_url) as connection:
        names = [name for (name,) in connection.execute(tables, [owner]).fetchall()]
        each = [
            one.format(
                name, sql.Identifier(name), tenant_id, sql.Identifier(owner), agent_id or tenant_id
            )
            for name in names
        ]
        found = connection.execute(sql.SQL(" UNION ALL ").join(each)).fetchall()
    rows: dict[str, list[str]] = {name: [] for name in names}
    for name, row in sorted(found):
        rows[name].append(row)
    return rows


async def state_of(client: MnesticClient, victim: Victim, admin_url: str) -> Any:
    """All rows of the victim, and how much has happened to its jobs and its inbox: a signal counts as well."""
    tenant_id, found = victim.tenant_id, []
    jobs = (job_workflow_id(tenant_id, job) for job in (victim.known.job, victim.known.finished))
    for name in (*jobs, inbox_workflow_id(tenant_id, AGENT)):
        described = await client.temporal.get_workflow_handle(name).describe()
        found.append(described.history_length)
    return rows_of(admin_url, tenant_id), found


def as_json(value: Any) -> Any:
    """What a call gives, as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, WorkflowHandle):
        return value.id
    if isinstance(value, Mapping):
        return {str(name): as_json(each) for name, each in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return [as_json(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def leaked(text: str, victim: Victim, *, given: Known | None = None) -> list[str]:
    """What a text has of the victim, beyond the names that its reader has given himself."""
    for name in given.names if given else ():
        text = text.replace(name, "<given>")
    found = {each for each in _ID.findall(text) if each in victim.ids}
    marks = (SECRET.lower(), victim.tenant_id)
    return sorted(found | {mark for mark in marks if mark in text.lower()})


def without_names(text: str, *, known: Known, tenant_id: str) -> str:
    """An answer without what differs between two that say the same: moments, names and ids."""
    text = _MOMENT.sub("<moment>", text)
    for name in (tenant_id, *known.names):
        text = text.replace(name, "<name>")
    return _ID.sub("<id>", text.replace(f"after: is {known.signal};", "after: is <name>;"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


async def _waiting_job(client: MnesticClient, *, session_id: str) -> str:
    job_id = await client.start_job(SECRET_PLAN, agent_id=AGENT, session_id=session_id)
    async with asyncio.timeout(30):
        while await client.find_open_wait(job_id) is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    return job_id


async def _known(client: MnesticClient, *, waiting: str, finished: str, purged: Purged) -> Known:
    memory = client.memory(AGENT)
    wait = await client.find_open_wait(waiting)
    assert wait is not None
    receipt = await client.resume_job(finished, {"place": SECRET}, request_id="their-request")
    assert isinstance(receipt, ResumeReceipt)
    (archived,), of_archived = await memory.entries.list_archived(limit=1)
    ((report,), _) = await client.maintenance.list_reports()
    facts, of_facts = await memory.facts.list(limit=1)
    result = wait.context.payload_results["hear"]
    assert find_reference(result) is not None
    keys = [await client.api_keys().create(agents=[AGENT], actions=["read"]) for _ in range(2)]
    return Known(
        job=waiting,
        backup=(await client.backups().create()).manifest.id,
        run=report.id,
        finished=finished,
        wait=wait.wait_id,
        sha256=receipt.snapshot_sha256,
        snapshot=wait.snapshot_id,
        result=result,
        entry=(await memory.entries.list(EntryQuery(session_id=SESSION)))[0][-1],
        archived=archived.entry.id,
        fact=facts[0],
        claims=[claim for fact in facts for claim in (await memory.facts.why(fact.id))[1]],
        parked=(await memory.parked.list())[0],
        purged=purged,
        token=str((await memory.preview_forget(TOPIC)).token),
        signal=(await memory.events.list())[-1].number,
        api_key=keys[0].key.id,
        contract=CONTRACT,
        cursors={
            "agents": encode_cursor("a"),  # of a list that would begin with theirs
            "contracts": (await client.contracts().history(CONTRACT, limit=1))[1],
            "api_keys": (await client.api_keys().list(limit=1))[1],
            "audit": (await client.audit().list(limit=1))[1],
            "jobs": (await client.list_jobs(limit=1))[1],
            "records": (await memory.records.list(limit=1))[1],
            "episodes": (await memory.episodes.list(limit=1))[1],
            "entries": (await memory.entries.list(EntryQuery(), limit=1))[1],
            "retrievals": (await memory.retrieval_log.list(limit=1))[1],
            "facts": of_facts,
            "archived": of_archived,
            "summaries": (await memory.contexts.list_summaries(limit=1))[1],
            "reports": encode_cursor(report.started_at.isoformat(), report.id),
        },
    )
