"""`mnestic job`: what it answers, and what it refuses without leaving anything behind."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import JobFailedError
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


@pytest.mark.usefixtures("worker")
async def test_start_can_wait_for_the_end(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_text(
        "name: short\nnodes: [{id: say, kind: emit, channel: chat, content: hello, next: end}]\n",
        encoding="utf-8",
    )

    result = await ask(
        "job", "start", str(path), "--agent", "a", "--session", "s", "--wait", "--json"
    )

    assert result.document["waits"] == 0


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("kind: emit", "kind: shout", "line 12: node 'say': kind 'shout' is unknown"),
        (
            "next: approval",
            "next: note",
            "line 3: node 'note' is in a loop without a wait",
        ),
        ("resumed: say", "resumed: sya", "goes on to 'sya', which is not a node"),
        ("id: say", "id: note", "line 12: node 'note' is there twice"),
        ("name: greeting", "name: [", "line "),
        ("${input.name}", "${imput.name}", "templates begin with input"),
    ],
)
def test_a_plan_that_is_not_sound_starts_nothing(
    wired: Cli, plan: Path, start: tuple[str, ...], before: str, after: str, told: str
) -> None:
    text = plan.read_text(encoding="utf-8")
    assert before in text
    plan.write_text(text.replace(before, after, 1), encoding="utf-8")

    refused = wired(*start, "--json")

    assert told in refused.error(code=2)
    assert wired("job", "list", "--json").document["jobs"] == []


def test_inputs_over_the_limit_are_told_with_limit_and_size(
    wired: Cli, start: tuple[str, ...], rows: Rows
) -> None:
    text = "x" * 20_000
    size = len(json.dumps({"name": "Mara", "text": text}, separators=(",", ":")))

    refused = wired(*start, "--input", f"text={text}")

    assert f"inputs: is {size} bytes, the limit is 16384" in refused.error(code=2)
    assert wired("job", "list", "--json").document["jobs"] == []
    assert set(rows().values()) == {0}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--input", "nonsense"), "--input nonsense: must look like name=value"),
        (("--input", "x=NaN"), "--input x: holds NaN"),
        (
            ("--input", "x={bad"),
            "--input x: is not JSON: Expecting property name enclosed in double",
        ),
        (("--input", "x=@gone"), "--input x @gone: there is no such file"),
        (("--input", "@gone"), "--input @gone: there is no such file"),
        (("--input", "@list.json"), "--input @list.json: is not a JSON object of inputs"),
        (
            ("--input", "@bad.json"),
            "--input @bad.json: is not JSON: Expecting value at line 2, char",
        ),
        (("--input", "x=@latin"), "--input x @latin: is not UTF-8: byte 1"),
        (("--input", r'x="\ud800"'), "half of a surrogate pair"),
        (("--input", "x=" + "[" * 100_000), "nested too deep"),
        (("--input", "x=" + "9" * 5_000), "--input x: holds an integer that is too long"),
        (("--job-id", "a b"), "job id"),
        (("--job-id", "x" * 300), "job id"),
        (("--agent", ""), "agent"),
        (("--session", "a/b"), "session"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_malformed_option_starts_nothing(
    wired: Cli, start: tuple[str, ...], words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "bad.json").write_text('{"x":\n}', encoding="utf-8")
    (tmp_path / "latin").write_bytes(b"\xe4\xe4")

    refused = wired(*start, *words)

    assert told in refused.error(code=2)
    assert wired("job", "list", "--json").document["jobs"] == []


def test_a_job_id_is_used_once(wired: Cli, start: tuple[str, ...]) -> None:
    wired(*start, "--job-id", "mine")

    refused = wired(*start, "--job-id", "mine")

    assert "job mine exists already" in refused.error(code=2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--wait-id", "other/w1"), "wait other/w1 is not a wait of this job"),
        (("--wait-id", "ID/w7"), "wait ID/w7 is not open, the job now waits at ID/w1"),
        (("--sha256", "0" * 64), "has sha256 "),
        (("--outcome", "approved"), "has no outcome 'approved'; it has resumed, rejected"),
        (("--payload", json.dumps("x" * 20_000)), "payload: is 20002 bytes, the limit is 16384"),
        (("--payload", "{'word': 1}"), "--payload: is not JSON: "),
        (("--payload", "NaN"), "--payload: holds NaN"),
        (("--payload", "[" * 100_000), "nested too deep"),
        (("--payload", r'"\u0000"'), "NUL"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_resume_that_no_wait_takes_changes_nothing(
    waiting: str, ask: Ask, rows: Rows, words: tuple[str, ...], told: str
) -> None:
    before = _memory(rows)

    refused = await ask("job", "resume", waiting, *(word.replace("ID", waiting) for word in words))
    shown = (await ask("job", "show", waiting, "--json")).document

    assert told.replace("ID", waiting) in refused.error(code=2)
    assert _memory(rows) == before
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


def test_a_plan_that_is_not_there_is_named(wired: Cli, tmp_path: Path) -> None:
    refused = wired("job", "start", str(tmp_path / "gone.yaml"), "--agent", "a", "--session", "s")

    assert "gone.yaml: No such file" in refused.error(code=2)


async def _sha256(client: MnesticClient, job_id: str) -> str:
    handle = client._handle(job_id)
    memo = await (await handle.describe()).memo()
    found: str = memo["mnestic"]["sha256"]
    return found


def _memory(rows: Rows) -> dict[str, int]:
    """Everything but the audit log, which also tells who looked."""
    return {table: number for table, number in rows().items() if table != "audit_log"}


def test_inputs_that_the_plan_names_are_asked_for_before_the_start(
    wired: Cli, tmp_path: Path
) -> None:
    plan = tmp_path / "order.yaml"
    plan.write_text(
        "name: p\nnodes: [{id: say, kind: emit, channel: c, content: '${input.order}', next: end}]",
        encoding="utf-8",
    )

    refused = wired("job", "start", str(plan), "--agent", "a", "--session", "s")

    assert "none is given for ${input.order} in say" in refused.error(code=2)


async def test_the_result_of_a_parked_job_is_what_it_waits_for(waiting: str, ask: Ask) -> None:
    shown = await ask("job", "show", waiting)
    told = await ask("job", "result", waiting)

    assert "waits for approval until " in told.error(code=3)
    command = told.err.partition("resume it: ")[2].strip()
    assert command.endswith(f"job resume {waiting} --payload '{{}}'")
    assert f"Resume it, for example: {command}" in shown.out


@pytest.mark.usefixtures("worker")
async def test_a_failed_job_says_why_with_its_node(
    client: MnesticClient, ask: Ask, tmp_path: Path
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
        job_id, tenant_id=client.settings.tenant_id, memory=client._memory
    )

    assert "Failed: node say failed" in shown.out
    assert "${job.nobody}" in shown.out
    assert forgotten.failure is not None
    assert "node say failed: ${job.nobody}" in forgotten.failure
    assert (forgotten.state, forgotten.plan, forgotten.agent_id) == ("failed", "p", "ada")


@pytest.mark.parametrize("command", [("resume", "x"), ("override", "x", "--reason", "r")])
@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ("@gone.json", "--payload @gone.json: there is no such file"),
        ("@bad.json", "--payload @bad.json: is not JSON: Expecting value at line 2, character 1"),
        (
            "{bad",
            "--payload: is not JSON: Expecting property name enclosed in double quotes at char",
        ),
    ],
)
def test_a_payload_that_cannot_be_read_is_one_clear_error(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], payload: str, told: str
) -> None:
    (tmp_path / "bad.json").write_text('{"x":\n}', encoding="utf-8")

    refused = cli("job", *command, "--payload", payload)

    assert told in refused.error(code=2)


@pytest.mark.usefixtures("worker")
async def test_inputs_and_a_payload_are_read_from_files(
    ask: Ask, plan: Path, until_state: UntilState, tmp_path: Path
) -> None:
    (tmp_path / "inputs.json").write_text('{"name": "Mara"}', encoding="utf-8")
    (tmp_path / "payload.json").write_text('{"word": "dear"}\n', encoding="utf-8")
    started = await ask(
        *("job", "start", str(plan), "--agent", "ada", "--session", "s"),
        *("--input", "@inputs.json", "--input", "more=@payload.json", "--json"),
    )
    job_id = started.document["job_id"]
    await until_state(job_id, "waiting")

    await ask("job", "resume", job_id, "--payload", "@payload.json")
    result = await ask("job", "result", job_id, "--json")

    assert result.document["results"]["approval"]["payload"] == {"word": "dear"}
