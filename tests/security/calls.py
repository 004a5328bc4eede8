"""Calls of the clients, read from `calls.yaml`, and what is opened to make them."""

import asyncio
import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest

from mnestic.memory.forgetting.export_lines import ClaimLine, EndLine, HeaderLine, MessageLine
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingest_status import find_delay
from mnestic.starter.client.ingestion import receive_conversation, start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import Deployment
from mnestic.starter.health.memory import check_memory
from mnestic.starter.importers.turns import Conversation, ConversationSession, Turn
from tests.security.tenants import AGENT, FIRST, SESSION, TOPIC, Known
from tests.starter.case_files import read_cases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN = Plan.model_validate(
    {"name": "p", "nodes": [{"id": "ask", "kind": "wait", "key": "k", "timeout": "1d",
                             "on": {"resumed": "end", "timeout": "end"}}]}
)  # fmt: skip
ENTRY = Entry(
    id="e", session_id="s", source_id="1", entry_type="knowledge", content="Mine.", at=NOON
)
MESSAGE = Resource(  # where the victim has one
    session_id=SESSION, source_id=FIRST, channel="c", speaker="Mara", content="I live here.", at=NOON
)  # fmt: skip
TURN = Turn(id=FIRST, speaker="Mara", text="I live here.", at=NOON)
HEADER = HeaderLine(tenant_id="t", agent_id=AGENT, at=NOON)
_READ: dict[str, Any] = read_cases(__file__, "calls")
COMPARED, WITHOUT, SHARED_BY_AGENTS = (
    _READ.pop(name) for name in ("compared", "without", "shared_by_agents")
)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (start_ingest, receive_conversation, check_memory, find_delay)
}


async def act(request_id: str) -> Entry:  # noqa: ARG001 - nothing is acted on
    """Something that is done once."""
    return ENTRY


def values_of(known: Known) -> dict[str, Any]:
    """What calls may name: parts of what is known, and what anybody has."""
    return {
        **dict(known),
        "plan": PLAN,
        "noon": NOON,
        "later": NOON + timedelta(days=1),
        "now": datetime.now(UTC),
        "day": timedelta(days=1),
        "entry_type": Entry,
        "act": act,
        "work": lambda memory: memory.add("Mine.", at=NOON),
        "message": MESSAGE,
        "incoming": IncomingMessage(resource=MESSAGE, corrects=known.entry.source_id),
        "lines": lines_of(known.claims),
        "key_text": f"mnk.other.{known.api_key}.{'s' * 43}",
        "conversation": Conversation(
            title="c", sessions=(ConversationSession(id=SESSION, at=NOON, turns=(TURN,)),)
        ),
    }


def lines_of(claims: Iterable[Claim]) -> tuple[Any, ...]:
    """An export that says of itself that it is of what is not one's own."""
    lines = [HEADER, MessageLine(message=MESSAGE), *(ClaimLine(claim=claim) for claim in claims)]
    return (*lines, EndLine(lines=len(lines)))


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """A value of a file in which what is named is filled in."""
    if isinstance(value, str) and value.startswith("$"):
        name, _, length = value[1:].partition(":")
        first, *rest = name.split(".")
        found = values[first]
        for part in rest:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        return found[: int(length)] if length else found
    if isinstance(value, list):
        return [filled(each, values) for each in value]
    if isinstance(value, dict):
        return {name: filled(each, values) for name, each in value.items()}
    return value


def arguments_of(given: Any, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call."""
    found = filled(given, values)
    if isinstance(found, list):
        return found, {}
    if isinstance(found.get("query"), dict):
        found["query"] = EntryQuery(**found["query"])
    return [], found


def opened(client: MnesticClient, name: str, *, agent_id: str = AGENT) -> Any:
    """The method or the function of a call, of a client of somebody."""
    of, _, method = name.partition(" ")[0].partition(".")
    if not method:
        return lambda **given: FUNCTIONS[of](client, **given)
    openings: Mapping[str, Callable[[], Any]] = {
        "MnesticClient": lambda: client,
        "MemoryClient": lambda: client.memory(agent_id),
        "InboxClient": lambda: client.inbox(agent_id),
        "PredicateClient": client.predicates,
        "ImportanceClient": client.importance,
        "ContractsClient": client.contracts,
        "ApiKeyClient": client.api_keys,
        "AuditClient": client.audit,
        "MaintenanceClient": lambda: client.maintenance,
        "BackupClient": client.backups,
        "Deployment": lambda: Deployment(
            client.temporal, settings=client.settings, address=client.endpoints.temporal_address
        ),
    }
    return attrgetter(method)(openings[of]())


async def given_by(made: Any) -> Any:
    """What a call gives, at once, later or one after another."""
    if isinstance(made, AsyncIterable):
        return [each async for each in made]
    return await made if inspect.isawaitable(made) else made


async def _forked(client: MnesticClient, _: str, known: Known) -> Any:
    """A fork of a job of one's own, at a wait that is not."""
    own = await client.start_job(PLAN, agent_id=AGENT, session_id=SESSION, job_id="own")
    async with asyncio.timeout(30):
        while await client.find_open_wait(own) is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    return await client.fork_job(own, wait=known.wait)


async def _changed(client: MnesticClient, agent_id: str, known: Known) -> Any:
    """An entry of one's own, put below one that is not."""
    memory = client.memory(agent_id)
    return await memory.entries.change((await memory.add("Mine.")).id, parent=known.entry.id)


async def _forgotten(client: MnesticClient, agent_id: str, _: Known) -> Any:
    """What comes of forgetting what the agent itself has of the topic, which is nothing."""
    shown = await client.memory(agent_id).preview_forget(TOPIC)
    return await client.memory(agent_id).forget(TOPIC, confirm=shown.token)


async def _maintained(client: MnesticClient, agent_id: str, _: Known) -> Any:
    """What a run of one's own has counted."""
    report = await (await client.maintenance.start("nightly", agent_id=agent_id)).result()
    return report.counts


async def _grown(client: MnesticClient, _: str, __: Known) -> Any:
    """How much memory one has."""
    return (await client.maintenance.growth()).sizes.model_dump()


async def _sampled(client: MnesticClient, _: str, __: Known) -> Any:
    """What is watched of one's own memory; time passes."""
    passing = ("maintenance_", "ingest_oldest")
    samples = await client.maintenance.list_samples()
    own = (one for one in samples if not one.name.startswith(passing))
    return sorted((one.name, one.value, *one.labels.values()) for one in own)


GIVEN: Mapping[str, Any] = {
    f"{of}.{name}".removeprefix("functions."): given
    for of, calls in _READ.items()
    for name, given in calls.items()
}
SPECIAL: Mapping[str, Callable[[MnesticClient, str, Known], Awaitable[Any]]] = {
    "MnesticClient.fork_job of one's own": _forked,
    "MemoryClient.entries.change of one's own": _changed,
    "MemoryClient.forget what is one's own": _forgotten,
    "MaintenanceClient.start": _maintained,
    "MaintenanceClient.growth": _grown,
    "MaintenanceClient.list_samples": _sampled,
}
CASES = sorted({*GIVEN, *SPECIAL})


async def made_call(
    client: MnesticClient, name: str, known: Known, *, agent_id: str = AGENT
) -> Any:
    """What a call gives of what somebody knows."""
    if name in SPECIAL:
        return await SPECIAL[name](client, agent_id, known)
    positional, named = arguments_of(GIVEN[name], values_of(known))
    found = await given_by(opened(client, name, agent_id=agent_id)(*positional, **named))
    for part in COMPARED[name].split(".") if name in COMPARED else ():
        found = found[part] if isinstance(found, Mapping) else getattr(found, part)
    return found


def first_of_each(cases: Iterable[Any], group_of: Callable[[Any], Any]) -> list[Any]:
    """The cases; all but the first of each group have the mark `acceptance`, so that `make check` runs them."""
    known = set()
    found = []
    for case in cases:
        marks = [pytest.mark.acceptance] if group_of(case) in known else []
        known.add(group_of(case))
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=marks))
    return found
