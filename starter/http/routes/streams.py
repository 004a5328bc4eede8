"""Streams of server-sent events: the changes of an agent's memory, and the progress of jobs and of maintenance."""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Path, Query
from fastapi.exceptions import RequestValidationError
from fastapi.sse import EventSourceResponse, ServerSentEvent

from mnestic.memory.canonical import sha256_hex
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.memory.maintenance.reports import MaintenanceRun
from mnestic.memory.scope import Id
from mnestic.memory.selectors import Selector
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.http.calls import (
    VERSION,
    AgentCall,
    OfJob,
    TenantCall,
    agent_call,
    tenant_call,
)
from mnestic.starter.http.server_sent_events import HELD, Held, LastEventId, Stream, finished

router = APIRouter(prefix=VERSION, tags=["streams"], dependencies=[HELD])
_MOST_DIGITS = 18  # of a number that Postgres can have
_FINAL = frozenset({"completed", "failed", "cancelled", "terminated"})
State = TypeVar("State", JobDescription, MaintenanceRun)


class _Start(NamedTuple):
    """A stream of events before its first answer, so that what cannot be read is a problem and no broken stream."""

    call: AgentCall
    kinds: tuple[EventKind, ...]
    after: int | None
    events: tuple[StoredEvent, ...]


def _place(
    after: Annotated[
        int | None,
        Query(
            ge=0,
            lt=10**_MOST_DIGITS,
            description="The number of the last event seen; by default the oldest stored",
        ),
    ] = None,
    last_event_id: LastEventId = None,
) -> int | None:
    """The number of the last event seen: that of the browser, or of the query."""
    if last_event_id is not None:
        if not (
            last_event_id.isascii()
            and last_event_id.isdigit()
            and len(last_event_id) <= _MOST_DIGITS
        ):
            why = {"loc": ("header", "Last-Event-ID"), "msg": "is no number", "type": "value_error"}
            raise RequestValidationError([why])
        after = int(last_event_id)
    return after


Place = Annotated[int | None, Depends(_place)]


async def _start(
    call: Annotated[AgentCall, agent_call("read")],
    after: Place,
    kind: Annotated[list[EventKind], Query(description="Only of these kinds")] = [],  # noqa: B006 - FastAPI reads it
) -> _Start:
    events = await call.memory.events.list(after=after, kinds=kind)
    return _Start(call, tuple(kind), after, events)


class _Channel(NamedTuple):
    """A stream of a channel before its first answer."""

    contract: ContractMemory
    channel: str
    after: int | None
    events: tuple[ChannelEvent, ...]


async def _channel(
    call: Annotated[AgentCall, agent_call("read")],
    channel: Annotated[
        Selector, Query(description="A channel of the contract, or a pattern of such")
    ],
    after: Place,
) -> _Channel:
    contract = await call.memory.contract()
    return _Channel(contract, channel, after, await contract.list_events(channel, after=after))


class _Run(NamedTuple):
    """A run before the stream's first answer, so that one that there is not is a problem."""

    call: TenantCall
    run: MaintenanceRun


async def _run(
    run_id: Annotated[
        Id, Path(description="The `id` of its start", examples=["nightly-0f3a1f0c9a35"])
    ],
    call: Annotated[TenantCall, tenant_call("read")],
) -> _Run:
    return _Run(call, await call.client.maintenance.describe_run(run_id))


@router.get("/memory/events", response_class=EventSourceResponse)
async def stream_events(
    start: Annotated[_Start, Depends(_start)], stream: Held
) -> AsyncIterator[ServerSentEvent]:
    """Streams the changes of an agent's memory in their order; the id of each is its number.

    It ends after five minutes: go on with `Last-Event-ID`, as browsers do.
    """
    after, events, of_agent = start.after, start.events, start.call.memory.events
    async for _ in stream.polls():
        events = events or await finished(of_agent.list(after=after, kinds=start.kinds))
        while events:
            for event in events:
                yield ServerSentEvent(event=event.kind, id=str(event.number), data=event)
            after = events[-1].number
            events = await finished(of_agent.list(after=after, kinds=start.kinds))


@router.get("/contract/events", response_class=EventSourceResponse)
async def stream_channel(
    start: Annotated[_Channel, Depends(_channel)], stream: Held
) -> AsyncIterator[ServerSentEvent]:
    """Streams the events of a channel in their order; the id of each is its number.

    It ends after five minutes: go on with `Last-Event-ID`, as browsers do.
    """
    contract, channel, after, events = start
    async for _ in stream.polls():
        events = events or await finished(contract.list_events(channel, after=after))
        while events:
            for event in events:
                yield ServerSentEvent(event=event.channel, id=str(event.number), data=event)
            after = events[-1].number
            events = await finished(contract.list_events(channel, after=after))


@router.get("/jobs/{job_id}/events", response_class=EventSourceResponse)
async def stream_job(
    call: OfJob, stream: Held, last_event_id: LastEventId = None
) -> AsyncIterator[ServerSentEvent]:
    """Streams a job's state: an event `job` now and with each change, and `end` when the job has ended.

    It ends after five minutes at the latest: go on with `Last-Event-ID`, as browsers do.
    """

    async def read() -> JobDescription:
        return await call.client.describe_job(call.job_id)

    async for event in _states(stream, call.job, read, name="job", last=last_event_id):
        yield event


@router.get("/maintenance/runs/{run_id}/events", response_class=EventSourceResponse)
async def stream_run(
    start: Annotated[_Run, Depends(_run)], stream: Held, last_event_id: LastEventId = None
) -> AsyncIterator[ServerSentEvent]:
    """Streams how far a run of maintenance is: an event `run` now and with each change, and `end` when it has ended.

    It ends after five minutes at the latest: go on with `Last-Event-ID`, as browsers do.
    """

    async def read() -> MaintenanceRun:
        return await start.call.client.maintenance.describe_run(start.run.id)

    async for event in _states(stream, start.run, read, name="run", last=last_event_id):
        yield event


async def _states(
    stream: Stream,
    state: State,
    read: Callable[[], Coroutine[Any, Any, State]],
    *,
    name: str,
    last: str | None,
) -> AsyncIterator[ServerSentEvent]:
    """An event now, unless it is the last one that came, one with each change, and `end` once the state is final."""
    async for _ in stream.polls():
        version = sha256_hex(state.model_dump_json().encode())[:16]
        if version != last:
            yield ServerSentEvent(event=name, id=version, data=state)
            last = version
        if state.state in _FINAL:
            yield ServerSentEvent(event="end", id=version, data={"state": state.state})
            return
        state = await finished(read())
