"""`mnestic job history` and `mnestic job diff`, for people and for programs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.jobs.plans import Plan
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

Cli = Callable[..., Any]
Ask = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[None]]

RESUME = ("--payload", '{"word": "dear"}', "--request-id", "r1", "--json")


@pytest.fixture
def pinned(plan: Path) -> Plan:
    """The plan, by the policy `pinned`."""
    text = plan.read_text(encoding="utf-8").replace("kind: wait", "kind: wait\n    policy: pinned")
    return parse_plan(text, source="test")


async def test_a_history_in_json_tells_each_entry_and_where_it_is_from(
    waiting: str, ask: Ask, until_state: UntilState
) -> None:
    await ask("job", "resume", waiting, *RESUME)
    await until_state(waiting, "completed")

    document = (await ask("job", "history", waiting, "--json")).document

    assert (document["job_id"], document["complete"], document["earlier"]) == (waiting, True, 0)
    assert [entry["what"] for entry in document["entries"]] == [
        "started",
        "step",
        "wait_opened",
        "requested",
        "restored",
        "step",
        "ended",
    ]
    assert {tuple(sorted(entry)) for entry in document["entries"]} == {
        ("at", "detail", "source", "what")
    }


async def test_a_history_in_words_is_a_line_for_each_thing(
    waiting: str, ask: Ask, until_state: UntilState
) -> None:
    await ask("job", "resume", waiting, *RESUME)
    await until_state(waiting, "completed")

    lines = (await ask("job", "history", waiting)).out.splitlines()

    told = "\n".join(line[12:].rstrip() for line in lines)
    assert "job started       plan greeting · agent ada · session s1 · by " in told
    assert "remember          note · 1 record · " in told
    assert "wait opened       approval (w1) until " in told
    assert "resume requested  request r1 · outcome resumed · update from " in told
    assert "restored          w1 resumed · verified sha256 " in told
    assert "emit              say · " in told
    assert "job completed     1 wait · episode " in told


async def test_a_history_tells_no_text_of_memory(waiting: str, ask: Ask) -> None:
    told = await ask("job", "history", waiting)
    document = await ask("job", "history", waiting, "--json")

    assert "Mara" not in told.out
    assert "Mara" not in document.out


async def test_a_limit_keeps_the_latest_lines_and_says_so(waiting: str, ask: Ask) -> None:
    told = await ask("job", "history", waiting, "--limit", "1")
    document = (await ask("job", "history", waiting, "--limit", "1", "--json")).document

    assert told.out.startswith("2 earlier lines are left out; --limit shows more.")
    assert [entry["what"] for entry in document["entries"]] == ["wait_opened"]
    assert document["earlier"] == 2


@pytest.mark.parametrize("job_id", ["nobody", "no/body"])
def test_a_history_of_no_job_is_refused(wired: Cli, job_id: str) -> None:
    refused = wired("job", "history", job_id)

    assert job_id in refused.error(code=2)


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_that_is_none_is_refused(wired: Cli, limit: str) -> None:
    refused = wired("job", "history", "nobody", "--limit", limit)

    assert refused.code == 2
    assert "--limit" in refused.err


async def test_a_difference_in_json_holds_the_values_before_and_now(waiting: str, ask: Ask) -> None:
    await ask("memory", "record", "set", "profile", "name", "Maria", "--agent", "ada")

    document = (await ask("job", "diff", waiting, "--json")).document

    assert (document["wait_id"], document["drift_count"]) == (f"{waiting}/w1", 1)
    (record,) = document["records"]
    assert (record["key"], record["before"], record["now"]) == ("name", "Mara", "Maria")
    assert document["passes"] == {"pinned": True, "rebase": True, "strict": False}
    assert document["working_memory"]["variables"] == []


async def test_a_difference_in_words_is_cut_to_the_terminal(
    waiting: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    await ask("memory", "record", "set", "profile", "name", "x" * 500, "--agent", "ada")

    told = await ask("job", "diff", waiting, "--wait", "1")

    assert told.code == 0
    assert f"wait {waiting}/w1 (approval, waiting)" in told.out
    assert "1 change since; the wait's policy is rebase" in told.out
    assert 'profile/name changed 1 → 2 "Mara" "xxx' in " ".join(told.out.split())
    assert "Working memory did not change." in told.out
    assert max(len(line) for line in told.out.splitlines()) <= 200


async def test_nothing_that_changed_is_told_as_nothing(waiting: str, ask: Ask) -> None:
    told = await ask("job", "diff", waiting, "--wait", f"{waiting}/w1")

    assert "0 changes since" in told.out
    assert "No record changed; records that the job has read: 1." in told.out


async def test_a_wait_that_the_job_does_not_have_is_refused(waiting: str, ask: Ask) -> None:
    refusals = {
        "2": f"wait 2: does not exist; job {waiting} has one wait, 1",
        "0": "wait 0: does not exist",
        "other/w1": f"wait other/w1: is not a wait of job {waiting}",
        "w9": f"wait w9: is not a wait of job {waiting}",
        f"{waiting}/w7": f"wait {waiting}/w7: does not exist; job {waiting} has one wait, 1",
    }

    for wait, told in refusals.items():
        refused = await ask("job", "diff", waiting, "--wait", wait)

        assert told in refused.error(code=2)


@pytest.mark.usefixtures("worker")
async def test_a_job_that_did_not_wait_has_no_snapshot_to_compare(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_text(
        "name: short\nnodes: [{id: say, kind: emit, channel: chat, content: hello, next: end}]\n",
        encoding="utf-8",
    )
    who = ("--agent", "a", "--session", "s", "--job-id", "short")
    await ask("job", "start", str(path), *who, "--wait")

    refused = await ask("job", "diff", "short")

    assert "job short: has not waited yet" in refused.error(code=2)


def test_a_difference_of_no_job_is_refused(wired: Cli) -> None:
    refused = wired("job", "diff", "nobody")

    assert "no job nobody" in refused.error(code=2)


@pytest.mark.usefixtures("worker")
async def test_memory_that_was_set_aside_is_named_wherever_the_job_is_told_of(
    client: MnesticClient, memory: Memory, pinned: Plan, ask: Ask, until_state: UntilState
) -> None:
    job_id = await client.start_job(
        pinned, agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )
    await until_state(job_id, "waiting")
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        state = await transaction.working.load("s1", lock=True)
        await transaction.working.save("s1", state.with_note("newer"))

    receipt = (await ask("job", "resume", job_id, *RESUME)).document
    await until_state(job_id, "completed")
    show = (await ask("job", "show", job_id)).out
    diff = (await ask("job", "diff", job_id, "--wait", "1")).out
    history = (await ask("job", "history", job_id)).out

    aside = receipt["set_aside"]
    assert f"w1: newer working memory was set aside as snapshot {aside}" in show
    assert f"Its restore set newer working memory aside, as snapshot {aside}." in diff
    assert f"newer memory set aside as snapshot {aside}" in " ".join(history.split())
