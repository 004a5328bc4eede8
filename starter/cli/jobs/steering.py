"""`mnestic job`: the commands that steer a running job."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mnestic.memory.durations import Duration
from mnestic.memory.jobs.waits import RESUMED
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import resolve_job_id, resolve_wait_id
from mnestic.starter.cli.jobs.jobs import JobId, format_timestamp, print_receipt
from mnestic.starter.cli.output import AsJson, out, print_json, run
from mnestic.starter.cli.timestamps import parse_timestamp
from mnestic.starter.cli.values import parse_as, parse_json

if TYPE_CHECKING:
    from mnestic.starter.client.mnestic_client import MnesticClient


def override(
    id_or_prefix: JobId,
    reason: Annotated[str, typer.Option(help="The reason, for the audit log.")],
    policy: Annotated[
        Literal["rebase", "pinned"],
        typer.Option(help="rebase: continue with current memory; pinned: with the snapshot."),
    ] = "rebase",
    by: Annotated[str | None, typer.Option(help="Who decides it.")] = None,
    payload: Annotated[
        str,
        typer.Option(metavar="JSON", help="The payload for the job, as JSON; @FILE reads a file."),
    ] = "null",
    outcome: Annotated[str, typer.Option(help="An outcome of the wait, or timeout.")] = RESUMED,
    request_id: Annotated[
        str | None,
        typer.Option(help="The same id is the same request, also a deferred one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a job that needs attention continue."""
    parsed_payload = parse_json(payload, what="--payload")

    async def work() -> None:
        from mnestic.starter.jobs.resumes import request_id_of

        name = request_id_of(request_id)
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            receipt = await client.override_job(
                job_id,
                parsed_payload,
                reason=reason,
                by=by,
                policy=policy,
                outcome=outcome,
                request_id=name,
                limit=timedelta(seconds=20),
            )
        print_receipt(job_id, receipt, request_id=name, as_json=as_json)

    run(work())


def extend(
    id_or_prefix: JobId,
    by: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How much later, such as 7d.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The new deadline, such as 2027-01-31T12:00Z."),
    ] = None,
    wait_id: Annotated[
        str | None, typer.Option(help="The wait to extend; default: the open one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Give a waiting job a later deadline."""
    extension = parse_as(Duration, by, what="--by")
    new_deadline = parse_timestamp(until, what="--until")

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            target_wait = await resolve_wait_id(client, job_id, wait_id)
            extended = await client.extend_wait(
                job_id, by=extension, until=new_deadline, wait_id=target_wait
            )
        if as_json:
            print_json(extended.model_dump(mode="json"))
        else:
            out.print(
                f"Job {job_id} waits at {extended.wait_id} until {format_timestamp(extended.deadline)}."
            )

    run(work())


def pause(job_id: JobId, as_json: AsJson = False) -> None:
    """Pause a job before its next step."""
    _signal(job_id, lambda client, job: client.pause_job(job), state="paused", as_json=as_json)


def unpause(job_id: JobId, as_json: AsJson = False) -> None:
    """Let a paused job continue."""
    _signal(job_id, lambda client, job: client.unpause_job(job), state="unpaused", as_json=as_json)


def poke(
    id_or_prefix: JobId,
    untried: Annotated[
        bool,
        typer.Option(
            "--untried",
            help="Move it off a build without workers even if this version does not replay it.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Continue a waiting job in a new run, with the newest build of the worker."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            result = await client.poke_job(job_id, untried=untried)
        moved, standstill = result.moved, result.stands_still
        if as_json:
            print_json(
                {
                    "job_id": job_id,
                    "poked": True,
                    "moved": moved and moved.model_dump(),
                    "stands_still": standstill and str(standstill),
                }
            )
            return
        out.print(f"Job {job_id} continues in a new run as soon as a worker takes it.")
        if moved is not None:
            out.print(
                f"Its build {moved.from_build} has no worker, so it is moved to {moved.where}.",
                soft_wrap=True,
            )
        if standstill is not None:
            out.print(f"Until then it does not run: {standstill}", soft_wrap=True)

    run(work())


def fork(
    id_or_prefix: JobId,
    wait: Annotated[
        str | None, typer.Option(metavar="N", help="Number or id of the wait; default: the latest.")
    ] = None,
    as_job: Annotated[
        str | None, typer.Option("--job-id", help="The new job's id; generated by default.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The new job's session; default: the new job's id.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.yaml", help="Continue with another plan.")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(help="From 1 to 5; default: that of the other job.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start a job from a wait of another job, with the memory of that time; the other job does not change."""
    from mnestic.starter.jobs.plans import read_plan

    parsed = read_plan(plan) if plan else None

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            forked = await client.fork_job(
                job_id,
                wait=await resolve_wait_id(client, job_id, wait),
                as_job=as_job,
                session_id=session,
                plan=parsed,
                priority=priority,
            )
            link = client.job_link(forked)
        if as_json:
            print_json({"job_id": forked, "forked_from": job_id, "temporal_ui": link})
        else:
            out.print(f"Job {forked} starts from a wait of job {job_id}.")
            out.print(link or "", soft_wrap=True)

    run(work())


def _signal(
    id_or_prefix: str,
    send: "Callable[[MnesticClient, str], Awaitable[None]]",
    *,
    state: str,
    as_json: bool,
) -> None:
    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            await send(client, job_id)
        if as_json:
            print_json({"job_id": job_id, state: True})
        else:
            out.print(f"Job {job_id} is {state} as soon as a worker takes it.")

    run(work())
