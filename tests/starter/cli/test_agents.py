"""`mnestic agents`, and the warning about an agent without memory."""

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Ask, Cli

READING: list[list[str]] = read_cases(__file__, "reading")


async def test_agents_are_listed_with_what_they_have(ask: Ask, client: MnesticClient) -> None:
    ada, bea = client.memory("ada"), client.memory("bea")
    await ada.add("I live in Ghent.", speaker="Mara")
    await ada.facts.add("Mara", "likes", "tea")
    await ada.records.set("profile", "name", "Mara")
    await ada.records.set("profile", "age", 3)
    await ada.records.delete("profile", "age")
    await bea.records.set("profile", "name", "Bea")
    await client.predicates().set("likes", cardinality="multi")  # which is of no agent

    found = (await ask("agents", "--json")).document
    first = (await ask("agents", "--limit", "1", "--json")).document
    second = (await ask("agents", "--cursor", first["cursor"], "--json")).document
    told = await ask("agents")

    assert [one["agent_id"] for one in found["agents"]] == ["ada", "bea"]
    counts = {"entries": 1, "facts": 1, "messages": 1, "records": 1, "episodes": 0, "sessions": 0}
    assert found["agents"][0].items() >= counts.items()
    assert [one["agent_id"] for one in first["agents"]] == ["ada"]
    assert second == {"agents": found["agents"][1:], "cursor": None}
    assert told.out.splitlines()[1].split()[:7] == ["ada", "1", "1", "1", "1", "0", "0"]
    assert told.err == ""


async def test_who_reads_of_an_unknown_agent_is_warned(ask: Ask, client: MnesticClient) -> None:
    await client.memory("ada-lovelace").records.set("profile", "name", "Ada")
    warning = (
        f"warning: agent Ada-lovelase has no memory in tenant {client.settings.tenant_id}; "
        "did you mean ada-lovelace?\n"
    )

    for words in READING:
        wrong = await ask(*words, "--agent", "Ada-lovelase")
        right = await ask(*words, "--agent", "ada-lovelace")

        assert wrong.err == warning, words
        assert right.err == "", words


async def test_without_a_near_name_the_agents_are_named(ask: Ask, client: MnesticClient) -> None:
    words = ("memory", "list", "--agent", "zoe", "--json")

    alone = await ask(*words)
    for number in range(7):
        await client.memory(f"agent-{number}").records.set("profile", "name", "x")
    among = await ask(*words)

    assert alone.document == {"entries": [], "cursor": None}
    assert "no agent of the tenant has memory yet" in alone.err
    assert (
        "the tenant's agents are agent-0, agent-1, agent-2, agent-3, agent-4 and 2 more"
        in among.err
    )


def test_who_writes_is_not_warned(wired: Cli) -> None:
    done = wired("memory", "record", "set", "profile", "name", "Mara", "--agent", "new")

    assert (done.code, done.err) == (0, "")
