"""`mnestic job history`: what happened to a job, for people and for programs."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Cli = Callable[..., Any]
Ask = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[None]]

RESUME = ("--payload", '{"word": "dear"}', "--request-id", "r1", "--json")


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
        "asked",
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
    assert "job started    plan greeting · agent ada · session s1 · by " in told
    assert "remember       note · 1 record · " in told
    assert "wait opened    approval (w1) until " in told
    assert "resume asked   request r1 · outcome resumed · update from " in told
    assert "restored       w1 resumed · verified sha256 " in told
    assert "emit           say · " in told
    assert "job completed  1 wait · episode " in told


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
