"""`mnestic job`: plans, inputs and payloads, from options and files, and what starts nothing."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Ask = Callable[..., Awaitable[Any]]
Rows = Callable[[], dict[str, int]]
UntilState = Callable[[str, str], Awaitable[None]]


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


def test_a_plan_that_is_not_there_is_named(wired: Cli, tmp_path: Path) -> None:
    refused = wired("job", "start", str(tmp_path / "gone.yaml"), "--agent", "a", "--session", "s")

    assert "gone.yaml: No such file" in refused.error(code=2)


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
