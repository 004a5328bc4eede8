"""`mnestic job`: what it answers, and what it refuses without leaving anything behind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mnestic.memory.errors import JobFailedError
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.forgotten_jobs import describe_forgotten_job
from mnestic.starter.jobs.plans import read_plan
from tests.rotten_snapshots import rot_snapshots
from tests.starter.cli.conftest import Ask

Rows = Callable[[], dict[str, int]]


async def _sha256(client: MnesticClient, job_id: str) -> str:
    workflow_id = job_workflow_id(client.settings.tenant_id, job_id)
    memo = await (await client.temporal.get_workflow_handle(workflow_id).describe()).memo()
    found: str = memo["mnestic"]["sha256"]
    return found


def _memory(rows: Rows) -> dict[str, int]:
    """Everything but the audit log, which also tells who looked."""
    return {table: number for table, number in rows().items() if table != "audit_log"}


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


async def test_a_job_is_told_of_in_json_and_a_resume_that_no_wait_takes_changes_nothing(
    waiting: str, ask: Ask, client: MnesticClient, rows: Rows
) -> None:
    refusals = (
        ("--wait-id", "other/w1", "wait other/w1 is not a wait of this job"),
        ("--wait-id", f"{waiting}/w7", f"w7 is not open, the job now waits at {waiting}/w1"),
        ("--sha256", "0" * 64, "has sha256 "),
        ("--outcome", "approved", "has no outcome 'approved'; it has resumed, rejected"),
        ("--payload", json.dumps("x" * 20_000), "payload: is 20002 bytes, the limit is 16384"),
        ("--payload", "NaN", "--payload: holds NaN"),
        ("--payload", r'"\u0000"', "NUL"),
    )
    before = _memory(rows)
    for option, value, why in refusals:
        assert why in (await ask("job", "resume", waiting, option, value)).error(code=2)
        assert _memory(rows) == before, why
    await ask("memory", "record", "set", "profile", "name", "Maria", "--agent", "ada")
    listed = (await ask("job", "list", "--waiting", "--json")).document
    shown = (await ask("job", "show", waiting, "--json")).document
    diff = (await ask("job", "diff", waiting, "--json")).document
    told = await ask("job", "history", waiting, "--limit", "1")
    sha256 = await _sha256(client, waiting)
    resume = ("--payload", '{"word": "x"}', "--wait-id", f"{waiting}/w1", "--sha256", sha256)
    left = (await ask("job", "resume", waiting, *resume, "--signal", "--json")).document
    result = (await ask("job", "result", waiting, "--json")).document
    history = (await ask("job", "history", waiting, "--json")).document

    assert [job["job_id"] for job in listed["jobs"]] == [waiting]
    assert (shown["state"], shown["wait_key"], shown["plan"]) == ("waiting", "approval", "greeting")
    assert [wait["state"] for wait in shown["waits"]] == ["waiting"]
    assert shown["temporal_ui"].endswith(f"{waiting}/{shown['run_id']}/user-metadata")
    (record,) = diff["records"]
    assert (record["key"], record["before"], record["now"]) == ("name", "Mara", "Maria")
    assert (diff["wait_id"], diff["drift_count"]) == (f"{waiting}/w1", 1)
    assert diff["passes"] == {"pinned": True, "rebase": True, "strict": False}
    assert told.out.startswith("2 earlier lines are left out; --limit shows more.")
    assert (result["job_id"], result["waits"]) == (waiting, 1)
    assert (history["job_id"], history["complete"], history["earlier"]) == (waiting, True, 0)
    (asked,) = [one["detail"] for one in history["entries"] if one["what"] == "requested"]
    assert left == {"receipt": None, "request_id": asked["request_id"]}
    assert (asked["wait_id"], asked["via"]) == (f"{waiting}/w1", "signal")
    assert {tuple(sorted(entry)) for entry in history["entries"]} == {
        ("at", "detail", "source", "what")
    }
    assert "Mara" not in told.out + json.dumps(history)


async def test_a_snapshot_that_is_corrupted_is_an_error_and_its_job_can_be_overridden(
    waiting: str, ask: Ask, rows: Rows, client: MnesticClient, admin_url: str
) -> None:
    rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)
    before = _memory(rows)
    diff = await ask("job", "diff", waiting)
    refused = (await ask("job", "resume", waiting)).error(code=1)
    after = _memory(rows)
    shown = (await ask("job", "show", waiting, "--json")).document
    listed = (await ask("job", "list", "--waiting", "--json")).document
    words = ("job", "override", waiting, "--reason", "seen", "--by", "ana", "--request-id", "o1")
    overridden, again = [await ask(*words, "--json") for _ in range(2)]

    assert "is corrupted: its sha256 is" in diff.error(code=1)
    assert f"job {waiting} was not resumed and needs attention" in refused
    assert "is corrupted: its sha256 is" in refused
    assert before == after
    assert (shown["state"], "is corrupted" in shown["attention"]) == ("needs_attention", True)
    assert [wait["state"] for wait in shown["waits"]] == ["waiting"]
    assert [job["state"] for job in listed["jobs"]] == ["needs_attention"]
    assert overridden.document["override"].items() >= {"reason": "seen", "by": "ana"}.items()
    assert again.document == overridden.document


@pytest.mark.usefixtures("worker")
async def test_start_can_wait_for_the_end_and_takes_an_id_once(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_text('{"word": "hello"}', encoding="utf-8")
    (tmp_path / "short.yaml").write_text(
        "name: short\nnodes: [{id: say, kind: emit, channel: c, content: '${input.word}', next: end}]"
    )
    words = ("job", "start", "short.yaml", "--agent", "a", "--session", "s", "--job-id", "mine")
    inputs = ("--input", "@inputs.json", "--input", "more=@inputs.json")

    ended = await ask(*words, *inputs, "--wait", "--json")
    again = await ask(*words, *inputs)
    diff = await ask("job", "diff", "mine")

    assert ended.document["waits"] == 0
    assert "job mine exists already" in again.error(code=2)
    assert "job mine: has not waited yet" in diff.error(code=2)
