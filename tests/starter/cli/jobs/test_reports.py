"""`mnestic job history` and `mnestic job diff`, for people and for programs."""

from pathlib import Path

import pytest

from mnestic.memory.jobs.plans import Plan
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.job_states import until_state
from tests.starter.cli.conftest import Ask
from tests.transactions import Begin

RESUME = ("--payload", '{"word": "dear"}', "--request-id", "r1", "--json")


@pytest.fixture
def pinned(plan: Path) -> Plan:
    """The plan, by the policy `pinned`."""
    text = plan.read_text(encoding="utf-8").replace("kind: wait", "kind: wait\n    policy: pinned")
    return parse_plan(text, source="test")


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


@pytest.mark.usefixtures("worker")
async def test_memory_that_was_set_aside_is_named_wherever_the_job_is_told_of(
    client: MnesticClient, pinned: Plan, ask: Ask, begin: Begin
) -> None:
    job_id = await client.start_job(
        pinned, agent_id="ada", session_id="s1", inputs={"name": "Mara"}
    )
    await until_state(client, job_id, "waiting")
    async with begin() as transaction:
        state = await transaction.working.load("s1", lock=True)
        await transaction.working.save("s1", state.with_note("newer"))

    receipt = (await ask("job", "resume", job_id, *RESUME)).document
    await until_state(client, job_id, "completed")
    show = (await ask("job", "show", job_id)).out
    diff = (await ask("job", "diff", job_id, "--wait", "1")).out
    history = (await ask("job", "history", job_id)).out

    aside = receipt["set_aside"]
    assert f"w1: newer working memory was set aside as snapshot {aside}" in show
    assert f"Its restore set newer working memory aside, as snapshot {aside}." in diff
    assert f"newer memory set aside as snapshot {aside}" in " ".join(history.split())


SAYS = """
name: says
nodes:
  - {id: say, kind: remember, message: {content: "The audit of the whole site begins today. Wait for it."}, next: ask}
  - {id: ask, kind: wait, key: approval, timeout: 1d, on: {resumed: end, timeout: end}}
"""


@pytest.mark.usefixtures("worker")
async def test_segments_are_shown_with_their_budgets_and_ledger(
    client: MnesticClient, ask: Ask
) -> None:
    conversation = {"segment_id": "conversation", "priority": 1, "max_tokens": 8}
    section = {"enabled": True, "max_tokens": 8, "segments": [conversation]}
    await client.contracts().apply("ada", {"Memory": {"short_term": section}})
    job_id = await client.start_job(
        parse_plan(SAYS, source="test"), agent_id="ada", session_id="s1"
    )
    await until_state(client, job_id, "waiting")

    shown = await ask("job", "show", job_id)
    document = (await ask("job", "show", job_id, "--json")).document

    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    report = document["segments"]
    budget = report["budgets"][0]
    assert f"Segments: {report['tokens']} of 8 tokens, contract ada version 1" in lines
    assert f"conversation 1 {budget['tokens']} of 8 {budget['entries']} session" in lines
    assert any("conversation cut 1" in line for line in lines)
