"""An id on the command line may be given by as much of its beginning as means one thing."""

import pytest

from mnestic.memory.jobs.plans import Plan
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.job_states import until_state
from tests.starter.cli.conftest import Ask

WAIT = {"id": "ask", "kind": "wait", "key": "k", "timeout": "1d"}
PLAN = Plan.model_validate(
    {"name": "p", "nodes": [WAIT | {"on": {"resumed": "end", "timeout": "end"}}]}
)
SAY = ("--agent", "ada")


async def test_an_entry_and_a_fact_are_named_by_their_beginning(
    ask: Ask, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    entry = await memory.add("The harbour is old.")
    other = await memory.add("The lake is cold.")
    (change,) = await memory.facts.add("Mara", "likes", "tea")
    start, fact = entry.id[:9], change.fact.id[:9]

    shown = (await ask("memory", "show", start, *SAY, "--json")).document
    below = (
        await ask("memory", "change", other.id[:9], "--parent", start, *SAY, "--json")
    ).document
    listed = (await ask("memory", "list", "--parent", start, *SAY, "--json")).document
    why = (await ask("memory", "facts", "why", fact, *SAY, "--json")).document
    history = (await ask("memory", "facts", "history", fact, *SAY, "--json")).document
    await ask("memory", "facts", "delete", fact, *SAY)
    removed = (await ask("memory", "delete", other.id[:9], *SAY, "--json")).document

    assert shown["id"] == below["parent"] == entry.id
    assert [one["id"] for one in listed["entries"]] == [other.id]
    assert why["fact"]["id"] == history["facts"][0]["id"] == change.fact.id
    assert (await memory.facts.list(statuses=("deleted",)))[0][0].id == change.fact.id
    assert removed["deleted"] == other.id


async def test_a_beginning_of_several_is_refused_and_names_them(
    ask: Ask, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    ids = sorted([(await memory.add(f"Number {number}.")).id for number in range(17)])
    first = next(one for one in "0123456789abcdef" if sum(i[0] == one for i in ids) > 1)
    meant = [one for one in ids if one[0] == first]

    refused = await ask("memory", "delete", first, *SAY)

    told = refused.error(code=2)
    assert told.startswith(
        f"error: entry {first}: is the beginning of several ids: {meant[0]}, {meant[1]}"
    )
    assert told.endswith("give more characters")
    assert (await memory.stats()).entries.total == 17


async def test_a_job_is_named_by_its_beginning_and_by_its_whole_id_though_others_begin_so(
    ask: Ask, client: MnesticClient
) -> None:
    for name in ("order-1", "order-10", "order-2", "pay-1"):
        await client.start_job(PLAN, agent_id="ada", session_id=name, job_id=name)

    async def shown(given: str) -> str:
        return str((await ask("job", "show", given, "--json")).document["job_id"])

    assert await shown("order-1") == "order-1"
    assert await shown("order-10") == "order-10"
    assert await _until_listed(ask, "pay") == "pay-1"
    several = (await ask("job", "pause", "order-")).error(code=2)
    assert (
        "is the beginning of several ids: order-1, order-10, order-2; give more characters"
        in several
    )
    assert "no job ship" in (await ask("job", "cancel", "ship")).error(code=2)


async def _until_listed(ask: Ask, given: str) -> str:
    """A job by its beginning; Temporal lists what was started a moment later."""
    for _ in range(100):
        done = await ask("job", "show", given, "--json")
        if done.code == 0:
            return str(done.document["job_id"])
    pytest.fail(done.err)


async def test_a_wait_is_named_by_its_number_and_by_what_follows_the_job(
    waiting: str, ask: Ask
) -> None:
    for given in ("1", "w1", f"{waiting}/w1", "w"):
        found = (await ask("job", "diff", waiting[:6], "--wait", given, "--json")).document
        assert found["wait_id"] == f"{waiting}/w1"

    done = await ask("job", "resume", waiting, "--wait-id", "w1", "--payload", '{"word": "dear"}')
    assert f"continues from wait {waiting}/w1" in done.out


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_not_named_by_how_its_job_begins(ask: Ask, client: MnesticClient) -> None:
    job_id = "0w9-tea"
    await client.start_job(PLAN, agent_id="ada", session_id="s", job_id=job_id)
    await until_state(client, job_id, "waiting")

    for given, why in (("0", "does not exist"), ("0w9", "is not"), ("w9", "is not")):
        refused = await ask("job", "diff", job_id, "--wait", given)
        assert f"wait {given}: {why}" in refused.error(code=2)
