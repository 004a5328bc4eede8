"""Steering a job on the command line: extend, pause, poke, fork, override."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

Ask = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[None]]
STRICT = """
name: strict
nodes:
  - {id: known, kind: recall, records: [{namespace: profile}], next: ask}
  - {id: ask, kind: wait, key: ask, policy: strict, timeout: 1d, on: {resumed: end, timeout: end}}
"""


async def test_a_wait_gets_a_later_deadline(client: MnesticClient, ask: Ask, waiting: str) -> None:
    (before,) = (await client.describe_job(waiting)).waits

    done = await ask("job", "extend", waiting, "--by", "7d", "--json")

    (after,) = (await client.describe_job(waiting)).waits
    assert (done.code, done.document["wait_id"]) == (0, f"{waiting}/w1")
    assert (after.deadline - before.deadline).days == 7


async def test_a_paused_job_is_not_resumed(ask: Ask, waiting: str, until_state: UntilState) -> None:
    assert (await ask("job", "pause", waiting, "--json")).document["paused"] is True
    await until_state(waiting, "paused")

    refused = await ask("job", "resume", waiting, "--json")
    unpaused = await ask("job", "unpause", waiting, "--json")
    resumed = await ask("job", "resume", waiting, "--json")

    assert refused.code == 2
    assert "it is paused; unpause it first" in refused.err
    assert (unpaused.code, resumed.code) == (0, 0)


async def test_a_poked_job_waits_on(ask: Ask, waiting: str, until_state: UntilState) -> None:
    done = await ask("job", "poke", waiting, "--json")

    await until_state(waiting, "waiting")
    assert (done.code, done.document["poked"]) == (0, True)


async def test_a_job_is_forked_from_a_wait(ask: Ask, waiting: str, until_state: UntilState) -> None:
    done = await ask("job", "fork", waiting, "--wait", "1", "--job-id", "forked", "--json")

    await until_state("forked", "waiting")
    shown = (await ask("job", "show", "forked", "--json")).document
    assert (done.code, done.document["forked_from"]) == (0, waiting)
    assert shown["forked_from"] == f"{waiting}/w1"


async def test_what_cannot_be_is_one_error(ask: Ask, waiting: str) -> None:
    soon = "'soon' is not a date or a time; write 2026-01-31"
    refusals = (
        (("extend", waiting, "--by", "-7d"), "'-7d' is not a duration"),
        (("extend", waiting, "--until", "soon"), soon),
        (("extend", waiting), "either by how much or until when"),
        (("fork", waiting, "--wait", "9"), "wait 9: does not exist"),
        (("fork", waiting, "--session", "s1"), "working memory of session s1 exists already"),
        (("fork", "nobody", "--wait", "1"), "no job nobody"),
        (("pause", "nobody"), "no job nobody"),
        (("override", waiting, "--reason", "x", "--outcome", "no"), "it needs no attention"),
    )

    for words, why in refusals:
        done = await ask("job", *words, "--json")

        assert done.code == 2, words
        assert done.err.count("error:") == 1, words
        assert why in done.err


@pytest.mark.usefixtures("worker")
async def test_a_job_that_needs_attention_is_overridden(
    client: MnesticClient, ask: Ask, until_state: UntilState
) -> None:
    memory = client.memory("ada")
    await memory.records.set("profile", "name", "Mara")
    job_id = await client.start_job(
        parse_plan(STRICT, source="test"), agent_id="ada", session_id="s1"
    )
    await until_state(job_id, "waiting")
    await memory.records.set("profile", "name", "Maria")

    refused = await ask("job", "resume", job_id, "--json")
    await until_state(job_id, "needs_attention")
    words = ("job", "override", job_id, "--reason", "seen", "--by", "ana", "--request-id", "o1")
    overridden = await ask(*words, "--json")
    again = await ask(*words, "--json")

    assert (refused.code, "profile/name changed" in refused.err) == (2, True)
    assert overridden.document["override"] == {"reason": "seen", "by": "ana", "policy": "rebase"}
    assert again.document == overridden.document
