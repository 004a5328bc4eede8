"""`mnestic job`: what it answers, and what it refuses without leaving anything behind."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import JobFailedError
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.forgotten_jobs import describe_forgotten_job
from mnestic.starter.jobs.plans import read_plan

Cli = Callable[..., Any]
Ask = Callable[..., Awaitable[Any]]
Rows = Callable[[], dict[str, int]]
UntilState = Callable[[str, str], Awaitable[None]]


async def test_a_job_is_started_listed_resumed_and_over_in_json(
    waiting: str, ask: Ask, client: MnesticClient
) -> None:
    listed = (await ask("job", "list", "--waiting", "--json")).document
    shown = (await ask("job", "show", waiting, "--json")).document
    sha256 = await _sha256(client, waiting)
    receipt = (
        await ask(
            *("job", "resume", waiting, "--payload", '{"word": "dear"}', "--request-id", "r1"),
            *("--wait-id", f"{waiting}/w1", "--sha256", sha256, "--json"),
        )
    ).document
    result = (await ask("job", "result", waiting, "--json")).document
    again = (await ask("job", "resume", waiting, "--request-id", "r1", "--json")).document

    assert [job["job_id"] for job in listed["jobs"]] == [waiting]
    assert (shown["state"], shown["wait_key"], shown["plan"]) == (
        "waiting",
        "approval",
        "greeting",
    )
    assert shown["temporal_ui"].endswith(f"{waiting}/{shown['run_id']}/user-metadata")
    assert receipt == again
    assert receipt["snapshot_sha256"] == sha256
    assert (result["job_id"], result["waits"]) == (waiting, 1)


async def test_a_person_is_told_the_same_in_words(waiting: str, ask: Ask) -> None:
    listed = await ask("job", "list")
    shown = await ask("job", "show", waiting)
    resumed = await ask("job", "resume", waiting, "--payload", '{"word": "dear"}')
    result = await ask("job", "result", waiting)

    assert waiting in listed.out
    assert f"{waiting}/w1" in shown.out
    assert f"Job {waiting} continues from wait {waiting}/w1" in resumed.out
    assert f"Job {waiting} completed after 1 wait." in result.out


@pytest.fixture
def asking(plan: Path, start: tuple[str, ...]) -> tuple[str, ...]:
    """The command that starts the plan, whose wait asks for a form."""
    form = "{properties: {word: {type: string}, by: {enum: [Ana, Bo]}}, required: [word]}"
    asked = f"    ask: Which word, ${{input.name}}?\n    form: {form}\n    timeout: 21d"
    text = plan.read_text(encoding="utf-8").replace("    timeout: 21d", asked)
    plan.write_text(text, encoding="utf-8")
    return start


@pytest.mark.usefixtures("worker")
async def test_a_person_is_shown_what_is_asked_and_what_the_answer_holds(
    asking: tuple[str, ...], ask: Ask, until_state: UntilState
) -> None:
    job_id = (await ask(*asking, "--json")).document["job_id"]
    await until_state(job_id, "waiting")

    shown = await ask("job", "show", job_id)
    refused = await ask("job", "resume", job_id, "--payload", "{}")
    await ask("job", "resume", job_id, "--payload", '{"word": "dear"}')
    over = await ask("job", "show", job_id)

    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "Prompt: Which word, Mara?" in lines
    assert "word string required" in lines
    assert "by Ana or Bo" in lines
    assert 'payload: "word" is a required property' in refused.error(code=2)
    assert "Prompt:" not in over.out


async def test_a_job_that_is_cancelled_says_so_and_has_no_result(
    waiting: str, ask: Ask, until_state: UntilState
) -> None:
    asked = (await ask("job", "cancel", waiting, "--json")).document
    await until_state(waiting, "cancelled")
    result = await ask("job", "result", waiting, "--json")

    assert asked == {"job_id": waiting, "cancel_requested": True}
    assert f"job {waiting} was cancelled" in result.error(code=1)


async def test_a_signal_is_left_with_temporal_and_resumes_the_job(
    waiting: str, ask: Ask, until_state: UntilState
) -> None:
    left = (
        await ask("job", "resume", waiting, "--payload", '{"word": "x"}', "--signal", "--json")
    ).document
    await until_state(waiting, "completed")
    told = (await ask("job", "history", waiting, "--json")).document["entries"]

    (asked,) = [entry["detail"] for entry in told if entry["what"] == "requested"]
    assert left == {"receipt": None, "request_id": asked["request_id"]}
    assert (asked["wait_id"], asked["via"]) == (f"{waiting}/w1", "signal")


@pytest.mark.usefixtures("worker")
async def test_a_person_is_told_which_results_are_too_large_to_return(
    client: MnesticClient, ask: Ask, plan: Path, until_state: UntilState
) -> None:
    settings = client.settings.model_copy(update={"max_payload_bytes": 1_048_576})
    async with await MnesticClient.connect(settings) as generous:
        job_id = await generous.start_job(
            read_plan(plan), agent_id="ada", session_id="s1", inputs={"name": "Mara"}
        )
        await until_state(job_id, "waiting")
        await generous.resume_job(job_id, "x" * 1_048_570, outcome="rejected")

    result = await ask("job", "result", job_id)

    assert "Too large to return: approval." in result.out.splitlines()


async def test_a_resume_that_no_wait_takes_changes_nothing(
    waiting: str, ask: Ask, rows: Rows
) -> None:
    refusals = (
        ("--wait-id", "other/w1", "wait other/w1 is not a wait of this job"),
        ("--wait-id", f"{waiting}/w7", f"w7 is not open, the job now waits at {waiting}/w1"),
        ("--sha256", "0" * 64, "has sha256 "),
        ("--outcome", "approved", "has no outcome 'approved'; it has resumed, rejected"),
        ("--payload", json.dumps("x" * 20_000), "payload: is 20002 bytes, the limit is 16384"),
        ("--payload", "{'word': 1}", "--payload: is not JSON: "),
        ("--payload", "NaN", "--payload: holds NaN"),
        ("--payload", "[" * 100_000, "nested too deep"),
        ("--payload", r'"\u0000"', "NUL"),
    )
    before = _memory(rows)

    for option, value, told in refusals:
        refused = await ask("job", "resume", waiting, option, value)

        assert told in refused.error(code=2)
        assert _memory(rows) == before, told

    shown = (await ask("job", "show", waiting, "--json")).document
    assert shown["state"] == "waiting"
    assert [wait["state"] for wait in shown["waits"]] == ["waiting"]


async def test_a_wait_and_a_job_that_are_over_take_no_resume(
    waiting: str, ask: Ask, rows: Rows
) -> None:
    await ask("job", "resume", waiting, "--payload", '{"word": "dear"}', "--request-id", "r1")
    await ask("job", "result", waiting)
    before = _memory(rows)

    late = await ask("job", "resume", waiting, "--request-id", "r2", "--wait-id", f"{waiting}/w1")
    cancelled = await ask("job", "cancel", waiting)

    assert f"job {waiting} was not resumed: it is over" in late.error(code=2)
    assert f"no running job {waiting}" in cancelled.error(code=2)
    assert _memory(rows) == before


@pytest.mark.parametrize("command", ["show", "resume", "cancel", "result"])
def test_a_job_that_is_not_there_is_named(wired: Cli, command: str) -> None:
    refused = wired("job", command, "nobody")

    assert "nobody" in refused.error(code=2)


def test_a_job_of_another_tenant_is_not_there(wired: Cli, start: tuple[str, ...]) -> None:
    wired(*start, "--job-id", "mine")

    refused = wired("--tenant", "someone-else", "job", "show", "mine")

    assert "mine" in refused.error(code=2)
    assert wired("--tenant", "someone-else", "job", "list", "--json").document["jobs"] == []


def test_a_cursor_of_nowhere_is_refused(wired: Cli) -> None:
    refused = wired("job", "list", "--cursor", "nowhere!")

    assert "cursor" in refused.error(code=2)


async def _sha256(client: MnesticClient, job_id: str) -> str:
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    memo = await (await client.temporal.get_workflow_handle(workflow_id).describe()).memo()
    found: str = memo["mnestic"]["sha256"]
    return found


def _memory(rows: Rows) -> dict[str, int]:
    """Everything but the audit log, which also tells who looked."""
    return {table: number for table, number in rows().items() if table != "audit_log"}


async def test_the_result_of_a_parked_job_is_what_it_waits_for(waiting: str, ask: Ask) -> None:
    shown = await ask("job", "show", waiting)
    told = await ask("job", "result", waiting)

    assert "waits for approval until " in told.error(code=3)
    command = told.err.partition("resume it: ")[2].strip()
    assert command.endswith(f"job resume {waiting} --payload '{{}}'")
    assert f"Resume it, for example: {command}" in shown.out


@pytest.mark.usefixtures("worker")
async def test_a_failed_job_says_why_with_its_node(
    client: MnesticClient, memory: Memory, ask: Ask, tmp_path: Path
) -> None:
    plan = tmp_path / "bad.yaml"
    plan.write_text(
        "name: p\nnodes: [{id: say, kind: emit, channel: c, content: '${job.nobody}', next: end}]",
        encoding="utf-8",
    )
    job_id = await client.start_job(read_plan(plan), agent_id="ada", session_id="s1")
    with pytest.raises(JobFailedError):
        await client.wait_for_result(job_id)

    shown = await ask("job", "show", job_id)
    forgotten = await describe_forgotten_job(
        job_id, tenant_id=client.settings.tenant_id, memory=memory
    )

    assert "Failed: node say failed" in shown.out
    assert "${job.nobody}" in shown.out
    assert forgotten.failure is not None
    assert "node say failed: ${job.nobody}" in forgotten.failure
    assert (forgotten.state, forgotten.plan, forgotten.agent_id) == ("failed", "p", "ada")
