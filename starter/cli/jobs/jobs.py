"""`mnestic job`: start, show, resume, steer and cancel jobs."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from mnestic.memory.errors import InvalidInputError, UnavailableError
from mnestic.memory.jobs.agent_job import JobDescription, JobResult
from mnestic.memory.jobs.forms import form_fields
from mnestic.memory.jobs.resume_commands import resume_command
from mnestic.memory.jobs.waits import RESUMED, JobState, JobWait, ResumeReceipt
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import job_named, wait_named
from mnestic.starter.cli.jobs.lines import brief
from mnestic.starter.cli.known_agents import warned
from mnestic.starter.cli.output import AsJson, counted, err, out, print_json, print_table, run
from mnestic.starter.cli.overrides import overrides
from mnestic.starter.cli.values import parse_json, parse_value

if TYPE_CHECKING:
    from mnestic.starter.client.mnestic_client import MnesticClient

_LOOK_AGAIN_S = 1.0
JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


def start(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.yaml", help="The plan to run.")],
    agent: Annotated[str, typer.Option(help="The agent whose memory it is.")],
    session: Annotated[str, typer.Option(help="The session whose working memory it is.")],
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="K=V",
            help="An input; V may be JSON or @FILE. @FILE alone: an object of inputs.",
        ),
    ] = None,
    job_id: Annotated[str | None, typer.Option(help="The job's id; made up without it.")] = None,
    priority: Annotated[
        int | None, typer.Option(help="1 goes first, 5 last, when jobs queue; default 3.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the job is over.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start a job."""
    from mnestic.starter.jobs.plans import read_plan

    parsed = read_plan(plan)
    given = _inputs(inputs or [])

    async def work() -> None:
        async with await connect_client() as client:
            started = await client.start_job(
                parsed,
                agent_id=agent,
                session_id=session,
                inputs=given,
                job_id=job_id,
                priority=priority,
            )
            if wait:
                _print_result(await _result(client, started), as_json=as_json)
                return
            job = await client.describe_job(started)
            link = client.job_link(started, run_id=job.run_id)
            if as_json:
                print_json({"job_id": started, "temporal_ui": link})
            else:
                out.print(f"Job {started} has started.")
                out.print(link or "", soft_wrap=True)

    run(work())


def list_(
    waiting: Annotated[bool, typer.Option("--waiting", help="Only parked jobs.")] = False,
    state: Annotated[
        str | None, typer.Option(help=f"Only in this state: {', '.join(get_args(JobState))}.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    plan: Annotated[str | None, typer.Option(help="Only of this plan, by its name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, latest first."""

    async def work() -> None:
        async with await connect_client() as client, warned(client, agent):
            found, following = await client.list_jobs(
                waiting=waiting,
                state=state,  # type: ignore[arg-type]  # it is checked there
                agent_id=agent,
                plan=plan,
                limit=limit,
                cursor=cursor,
            )
        if as_json:
            jobs = [job.model_dump(mode="json") for job in found]
            print_json({"jobs": jobs, "cursor": following})
            return
        rows = [
            (j.job_id, j.state, j.wait_key, when(j.deadline), j.agent_id, j.session_id)
            for j in found
        ]
        columns = ("job", "state", "waits for", "until", "agent", "session")
        print_table(columns, rows, empty="No jobs.")
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


def show(given: JobId, as_json: AsJson = False) -> None:
    """Show where a job is, and its waits."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            job = await client.describe_job(job_id)
            link = client.job_link(job_id, run_id=job.run_id)
        if as_json:
            print_json(job.model_dump(mode="json") | {"temporal_ui": link})
        else:
            _print_job(job, link)

    run(work())


def resume(
    given: JobId,
    payload: Annotated[
        str, typer.Option(metavar="JSON", help="What the job gets, as JSON; @FILE reads it.")
    ] = "null",
    outcome: Annotated[str, typer.Option(help="Which of the wait's outcomes it is.")] = RESUMED,
    request_id: Annotated[
        str | None, typer.Option(help="The same id is the same request; made up without it.")
    ] = None,
    wait_id: Annotated[
        str | None, typer.Option(help="The wait that is meant; else the open one.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="The snapshot that is expected.")] = None,
    signal: Annotated[
        bool, typer.Option("--signal", help="Leave it with Temporal; do not wait for the restore.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Resume a waiting job; returns once its memory is verified and restored."""
    told = parse_json(payload, what="--payload")

    async def work() -> None:
        from mnestic.starter.jobs.resumes import request_id_of

        name = request_id_of(request_id)
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            wanted = await wait_named(client, job_id, wait_id)
            if signal and wanted is None:
                wait = await client.find_open_wait(job_id)
                wanted = wait.wait_id if wait else None
            receipt = await client.resume_job(
                job_id,
                told,
                outcome=outcome,
                request_id=name,
                wait_id=wanted,
                expected_sha256=sha256,
                by="signal" if signal else "update",
                limit=timedelta(seconds=20),
            )
        print_receipt(job_id, receipt, request_id=name, as_json=as_json)

    run(work())


def cancel(given: JobId, as_json: AsJson = False) -> None:
    """Ask a job to end; it writes its episode first."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            await client.cancel_job(job_id)
        if as_json:
            print_json({"job_id": job_id, "cancel_requested": True})
        else:
            out.print(f"Job {job_id} was asked to end.")

    run(work())


def result(
    given: JobId,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until the job is over, also while it is parked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Wait for a running job, and show what came of it; a parked one tells what it waits for."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            found = _result(client, job_id) if wait else _result_unless_parked(client, job_id)
            _print_result(await found, as_json=as_json)

    run(work())


async def _result(client: "MnesticClient", job_id: str) -> JobResult:
    with err.status(f"Waiting for job {job_id} …"):
        return await client.wait_for_result(job_id)


async def _result_unless_parked(client: "MnesticClient", job_id: str) -> JobResult:
    """The result of a job.

    Raises:
        UnavailableError: it is parked; says for what, until when, and how to resume it.
    """
    result = asyncio.ensure_future(_result(client, job_id))
    try:
        while not (await asyncio.wait({result}, timeout=_LOOK_AGAIN_S))[0]:
            why = _parked(await client.describe_job(job_id))
            if why is not None:
                raise UnavailableError(f"job {job_id} has no result yet: it {why}")
        return await result
    finally:
        result.cancel()


def _parked(job: JobDescription) -> str | None:
    """Why a job does not go on by itself, and what lets it go on."""
    if job.state == "paused":
        return f"is paused; let it go on: mnestic job unpause {job.job_id}"
    if job.state == "needs_attention":
        return f"needs attention: {job.attention}; see: mnestic job show {job.job_id}"
    wait = next((wait for wait in job.waits if wait.state == "waiting"), None)
    if wait is None:
        return None
    command = _command(wait) or f"with a payload that fits, see: mnestic job show {job.job_id}"
    return f"waits for {wait.key} until {when(wait.deadline)}; resume it: {command}"


def _inputs(texts: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in chain.from_iterable(map(_input, texts)):
        if name in given:
            raise InvalidInputError(what=f"--input {name}", why="is there twice")
        given[name] = value
    return given


def _input(text: str) -> Iterable[tuple[str, Any]]:
    """The inputs of one option: `name=value`, or those in a file."""
    if text.startswith("@"):
        inputs = parse_json(text, what="--input")
        if not isinstance(inputs, dict):
            raise InvalidInputError(what=f"--input {text}", why="is no JSON object of inputs")
        return inputs.items()
    name, separator, value = text.partition("=")
    if not separator or not name:
        why = "must look like name=value, or @FILE with a JSON object"
        raise InvalidInputError(what=f"--input {text}", why=why)
    return [(name, parse_value(value, what=f"--input {name}"))]


def when(moment: datetime | None) -> str | None:
    """A moment as people read it."""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else None


def _print_job(job: JobDescription, link: str | None) -> None:
    out.print(f"Job {job.job_id} · {job.plan} · {job.state}")
    if job.forked_from:
        out.print(f"Forked from {job.forked_from}")
    for line in _troubles(job):
        out.print(line, soft_wrap=True)
    out.print(f"Agent {job.agent_id} · session {job.session_id} · since {when(job.started_at)}")
    if link:
        out.print(link, soft_wrap=True)
    if job.earlier_waits:
        out.print(
            f"{counted(job.earlier_waits, 'earlier waits')}: mnestic job history {job.job_id}"
        )
    rows = [
        (wait.wait_id, wait.key, wait.state, when(wait.deadline), brief(wait.snapshot_id))
        for wait in job.waits
    ]
    print_table(("wait", "key", "state", "deadline", "snapshot"), rows, empty="No waits so far.")
    for wait in job.waits:
        if wait.state == "waiting":
            _print_asked(wait)
            _print_command(wait)
        if wait.receipt is not None and wait.receipt.set_aside is not None:
            told = f"newer working memory was set aside as snapshot {wait.receipt.set_aside}"
            out.print(f"{wait.wait_id}: {told}", soft_wrap=True)


def _troubles(job: JobDescription) -> Iterator[str]:
    """What keeps a job from going on, or ended it."""
    if job.failure:
        yield f"Failed: {job.failure}"
    if job.attention:
        yield f"Needs attention: {job.attention}"
    for request in job.deferred:
        yield f"Deferred: request {request.request_id}, outcome {request.outcome}"
    for failure in job.failing:
        yield f"Tried again: {failure}"


def _print_asked(wait: JobWait) -> None:
    """What an open wait asks a person, and what the answer has to hold."""
    if wait.ask:
        out.print(f"Asks: {wait.ask}", soft_wrap=True)
    if wait.form is None:
        return
    rows = [(f.name, f.kind, "required" if f.required else None) for f in form_fields(wait.form)]
    print_table(("payload", "is", ""), rows, empty="")


def _print_command(wait: JobWait) -> None:
    command = _command(wait)
    if command is not None:
        out.print(f"Resume it, for example: {command}", soft_wrap=True)


def _command(wait: JobWait) -> str | None:
    """The command that resumes a job at a wait, with the options that this one was given."""
    data_dir = overrides.get("data_dir")
    return resume_command(
        wait.job_id,
        outcomes=wait.outcomes,
        form=wait.form,
        tenant_id=wait.scope.tenant_id,
        data_dir=None if data_dir is None else str(data_dir),
    )


def print_receipt(
    job_id: str, receipt: ResumeReceipt | None, *, request_id: str, as_json: bool
) -> None:
    """Prints what a resume did."""
    if as_json:
        left = {"receipt": None, "request_id": request_id}
        print_json(receipt.model_dump(mode="json") if receipt else left)
    elif receipt is None:
        out.print(
            f"The request is left with Temporal as {request_id}; job {job_id} resumes when a worker "
            f"takes it. See: mnestic job show {job_id}",
            soft_wrap=True,
        )
    else:
        out.print(
            f"Job {job_id} goes on from wait {receipt.wait_id} ({receipt.outcome}): snapshot "
            f"{receipt.snapshot_sha256[:16]}… {'verified' if receipt.verified else 'not verified'}, "
            f"{counted(receipt.drift_count, 'changes')} meanwhile.",
            soft_wrap=True,
        )


def _print_result(result: JobResult, *, as_json: bool) -> None:
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        out.print(f"Job {result.job_id} completed after {counted(result.waits, 'waits')}.")
        out.print_json(data=result.results)
        if result.omitted:
            out.print(f"Too large to return: {', '.join(result.omitted)}.")
