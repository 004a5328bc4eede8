"""`mnestic job`, its commands that steer a job which is under way."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mnestic.memory.durations import Duration
from mnestic.memory.jobs.waits import RESUMED
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import job_named, wait_named
from mnestic.starter.cli.jobs.jobs import JobId, print_receipt, when
from mnestic.starter.cli.output import AsJson, out, print_json, run
from mnestic.starter.cli.timestamps import parse_timestamp
from mnestic.starter.cli.values import parse_as, parse_json

if TYPE_CHECKING:
    from mnestic.starter.client.mnestic_client import MnesticClient


def override(
    given: JobId,
    reason: Annotated[str, typer.Option(help="Why; the audit log records it.")],
    policy: Annotated[
        Literal["rebase", "pinned"],
        typer.Option(help="rebase: go on with memory as it is now; pinned: with the snapshot."),
    ] = "rebase",
    by: Annotated[str | None, typer.Option(help="Who says so.")] = None,
    payload: Annotated[
        str, typer.Option(metavar="JSON", help="What the job gets, as JSON; @FILE reads it.")
    ] = "null",
    outcome: Annotated[str, typer.Option(help="An outcome of the wait, or timeout.")] = RESUMED,
    request_id: Annotated[
        str | None,
        typer.Option(help="The same id is the same request, also one that the job keeps."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a job go on that needs attention."""
    told = parse_json(payload, what="--payload")

    async def work() -> None:
        from mnestic.starter.jobs.resumes import request_id_of

        name = request_id_of(request_id)
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            receipt = await client.override_job(
                job_id,
                told,
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
    given: JobId,
    by: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How much later, such as 7d.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when, such as 2027-01-31T12:00Z.")
    ] = None,
    wait_id: Annotated[str | None, typer.Option(help="The wait that is meant.")] = None,
    as_json: AsJson = False,
) -> None:
    """Give a waiting job a later deadline."""
    later = parse_as(Duration, by, what="--by")
    moment = parse_timestamp(until, what="--until")

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            named = await wait_named(client, job_id, wait_id)
            extended = await client.extend_wait(job_id, by=later, until=moment, wait_id=named)
        if as_json:
            print_json(extended.model_dump(mode="json"))
        else:
            out.print(f"Job {job_id} waits at {extended.wait_id} until {when(extended.deadline)}.")

    run(work())


def pause(job_id: JobId, as_json: AsJson = False) -> None:
    """Hold a job before its next step."""
    _signal(job_id, lambda client, job: client.pause_job(job), told="paused", as_json=as_json)


def unpause(job_id: JobId, as_json: AsJson = False) -> None:
    """Let a paused job go on."""
    _signal(job_id, lambda client, job: client.unpause_job(job), told="unpaused", as_json=as_json)


def poke(
    given: JobId,
    untried: Annotated[
        bool,
        typer.Option(
            "--untried", help="Move it off a build without workers though it does not replay here."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have a waiting job go on in a new run, by the newest build of the worker."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            poked = await client.poke_job(job_id, untried=untried)
        moved, missing = poked.moved, poked.stands_still
        if as_json:
            print_json(
                {
                    "job_id": job_id,
                    "poked": True,
                    "moved": moved and moved.model_dump(),
                    "stands_still": missing and str(missing),
                }
            )
            return
        out.print(f"Job {job_id} is poked as soon as a worker takes it.")
        if moved is not None:
            out.print(
                f"Its build {moved.from_build} has no worker, so it is moved to {moved.where}.",
                soft_wrap=True,
            )
        if missing is not None:
            out.print(f"Until then it stands still: {missing}", soft_wrap=True)

    run(work())


def fork(
    given: JobId,
    wait: Annotated[
        str | None, typer.Option(metavar="N", help="Number or id of the wait; else the latest.")
    ] = None,
    as_job: Annotated[
        str | None, typer.Option("--job-id", help="The new job's id; made up without it.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The new job's session; the new job's id without it.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.yaml", help="Go on by another plan.")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(help="From 1 to 5; the other job's without it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start a job at a wait of another, with the memory of that time; the other is left alone."""
    from mnestic.starter.jobs.plans import read_plan

    parsed = read_plan(plan) if plan else None

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            forked = await client.fork_job(
                job_id,
                wait=await wait_named(client, job_id, wait),
                as_job=as_job,
                session_id=session,
                plan=parsed,
                priority=priority,
            )
            link = client.job_link(forked)
        if as_json:
            print_json({"job_id": forked, "forked_from": job_id, "temporal_ui": link})
        else:
            out.print(f"Job {forked} begins where job {job_id} waited.")
            out.print(link or "", soft_wrap=True)

    run(work())


def _signal(
    given: str,
    send: "Callable[[MnesticClient, str], Awaitable[None]]",
    *,
    told: str,
    as_json: bool,
) -> None:
    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            await send(client, job_id)
        if as_json:
            print_json({"job_id": job_id, told: True})
        else:
            out.print(f"Job {job_id} is {told} as soon as a worker takes it.")

    run(work())
