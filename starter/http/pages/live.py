"""Streams for open pages: an event says that what a page shows has changed, and the page loads that part again.

A browser sends them the cookie of pages, and they carry no data.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from mnestic.memory.canonical import sha256_hex
from mnestic.starter.http.calls import OfJob
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.facts import ReadCall
from mnestic.starter.http.pages.jobs.job import cursor_of
from mnestic.starter.http.pages.jobs.job_list import (
    JobsCall,
    PageCursor,
    PlanName,
    State,
    read_page,
)
from mnestic.starter.http.pages.maintenance import ReportsCall, read_state
from mnestic.starter.http.server_sent_events import LastEventId, Stream, finished, open_stream
from mnestic.starter.jobs.listing import UNFINISHED

LIVE = f"{ROOT}/live"
_RETRY_MS = 3_000


async def _followed(request: Request) -> AsyncIterator[Stream | None]:
    with ExitStack() as stack:
        stream = None
        with suppress(HTTPException):
            stream = stack.enter_context(open_stream(request))
        yield stream


_FOLLOWED = Depends(_followed)
Followed = Annotated[Stream | None, _FOLLOWED]
"""The stream of a page; None if its key has as many as it may have, and the page tries again."""
router = APIRouter(dependencies=[_FOLLOWED])


@router.get(f"{LIVE}/jobs", response_class=EventSourceResponse)
async def follow_jobs(
    call: JobsCall,
    stream: Followed,
    state: State = "",
    plan: PlanName = "",
    cursor: PageCursor = None,
    last_event_id: LastEventId = None,
) -> AsyncIterator[ServerSentEvent]:
    """Says when a list of jobs has changed."""

    async def read() -> str:
        return str(await read_page(call, state=state, plan=plan, cursor=cursor))

    async for event in _changes(stream, read, last=last_event_id):
        yield event


@router.get(f"{LIVE}/jobs/{{job_id}}", response_class=EventSourceResponse)
async def follow_job(
    call: OfJob, stream: Followed, last_event_id: LastEventId = None
) -> AsyncIterator[ServerSentEvent]:
    """Says when anything about a job has changed, such as the node at which it is, and when the job has ended."""
    job = call.job

    async def read() -> str:
        nonlocal job
        job = await call.client.describe_job(call.job_id)
        return f"{job.model_dump_json()} {await cursor_of(call.client, job)}"

    async for event in _changes(stream, read, last=last_event_id):
        yield event
        if job.state not in UNFINISHED:
            yield ServerSentEvent(event="end", data={})
            return


@router.get(f"{LIVE}/memory", response_class=EventSourceResponse)
async def follow_memory(
    call: ReadCall, stream: Followed, last_event_id: LastEventId = None
) -> AsyncIterator[ServerSentEvent]:
    """Says when an agent's memory has changed."""

    async def read() -> str:
        return str(await call.memory.events.last_number())

    async for event in _changes(stream, read, last=last_event_id):
        yield event


@router.get(f"{LIVE}/maintenance", response_class=EventSourceResponse)
async def follow_maintenance(
    call: ReportsCall, stream: Followed, last_event_id: LastEventId = None
) -> AsyncIterator[ServerSentEvent]:
    """Says when a run of maintenance has ended, or a Schedule has changed."""

    async def read() -> str:
        return str(await read_state(call))

    async for event in _changes(stream, read, last=last_event_id):
        yield event


async def _changes(
    stream: Stream | None, read: Callable[[], Coroutine[Any, Any, str]], *, last: str | None
) -> AsyncIterator[ServerSentEvent]:
    """An event `changed` now, unless it is the last one that came, and whenever what is read is another text."""
    if stream is None:
        yield ServerSentEvent(event="full", data={}, retry=_RETRY_MS)
        return
    async for _ in stream.polls():
        version = sha256_hex((await finished(read())).encode())[:16]
        if version != last:
            yield ServerSentEvent(event="changed", id=version, data={})
            last = version
