"""`mnestic memory events`, `graph`, `importance` and `predicates`, and `settings` of an agent."""

from typing import Any

import pytest

from tests.starter.cli.conftest import Ask, Cli

ADA = ("--agent", "ada")


async def test_what_changed_is_listed_and_then_what_changed_since(ask: Ask) -> None:
    for city in ("Utrecht", "Ghent"):
        await ask("memory", "facts", "add", "Mara", "lives_in", city, *ADA)

    shown = await ask("memory", "events", *ADA)
    told = (await ask("memory", "events", *ADA, "--json")).document["events"]
    since = await ask("memory", "events", *ADA, "--after", "1", "--kind", "memory.superseded")
    seen = await ask("memory", "events", *ADA, "--after", str(told[-1]["number"]))

    assert [one["number"] for one in told] == [1, 2, 3, 4]
    assert told[0]["kind"] == "memory.stored"
    assert all(one["subject"] == "Mara" and len(one["ids"]) == 1 for one in told)
    assert "memory.conflict" in shown.out
    assert "Mara lives_in" in shown.out
    assert "memory.superseded" in since.out
    assert "memory.stored" not in since.out
    assert "No events." in seen.out


def test_the_edges_around_a_name_are_shown(wired: Cli) -> None:
    for fact in (("Mara", "works_for", "Acme"), ("Acme", "located_in", "Ghent")):
        assert wired("memory", "facts", "add", *fact, *ADA).code == 0

    near = wired("memory", "graph", "Mara", *ADA).out
    far = wired("memory", "graph", "mara", "--depth", "2", *ADA, "--json").document
    cut = wired("memory", "graph", "--limit", "1", *ADA).out
    before = wired("memory", "graph", "Mara", "--at", "2020-01-01", *ADA).out
    refused = wired("memory", "graph", "Mara", "--at", "soon", *ADA)

    assert [line.split()[:4] for line in near.splitlines()] == [
        ["from", "predicate", "to", "weight"],
        ["Mara", "works_for", "Acme", "0.99"],
    ]
    assert [node["name"] for node in far["nodes"]] == ["Mara", "Acme", "Ghent"]
    assert [edge["source"] for edge in far["edges"]] == ["mara", "acme"]
    assert "There are more edges than 1" in cut
    assert before == "No edges.\n"
    assert "--at" in refused.error(code=2)


POLICY = ("memory", "importance")


async def test_a_weight_is_changed_shown_and_taken_back(ask: Ask) -> None:
    await ask("memory", "add", "The mill is closed.", "--agent", "ada")

    shown = await ask(*POLICY, "set", "recency", "0")
    by_type = (await ask(*POLICY, "set", "by_type", '{"insight": 1}', "--json")).document
    policy = (await ask(*POLICY, "get", "--json")).document
    listed = await ask(*POLICY, "get")
    reset = (await ask(*POLICY, "reset", "recency", "--json")).document

    assert "recency is 0.0" in shown.out
    assert "1 entries changed." in shown.out
    assert by_type["importance"]["by_type"]["insight"] == 1
    assert (policy["recency"], policy["by_type"]["insight"]) == (0, 1)
    assert "Weight of how recent it is" in listed.out
    assert reset == {"importance": {"recency": 0.25}, "entries_changed": 1}


async def liked(ask: Ask, agent: str) -> list[str]:
    done = await ask("memory", "facts", "list", "--predicate", "likes", "--agent", agent, "--json")
    return [fact["object"] for fact in done.document["facts"]]


async def test_a_predicate_is_changed_for_all_agents_and_back(ask: Ask) -> None:
    for agent in ("ada", "eve"):
        for thing in ("tea", "maps"):
            await ask("memory", "facts", "add", "Mara", "likes", thing, "--agent", agent)
    change = ("memory", "predicates", "set", "likes", "--cardinality")

    single = (await ask(*change, "single", "--json")).document
    of_one = [await liked(ask, agent) for agent in ("ada", "eve")]
    again = (await ask(*change, "single", "--json")).document
    multi = await ask(*change, "multi")
    of_many = [await liked(ask, agent) for agent in ("ada", "eve")]

    said = {"name": "likes", "cardinality": "single", "category": "preferences"}
    assert single == {"predicate": said, "facts_changed": 4}
    assert of_one == [["maps"], ["maps"]]
    assert again == {"predicate": said, "facts_changed": 0}
    assert "likes is multi, preferences; 4 facts changed." in multi.out
    assert of_many == [["tea", "maps"], ["tea", "maps"]]


async def test_predicates_are_listed_with_who_said_so(ask: Ask) -> None:
    await ask("memory", "predicates", "set", "lives_in", "--category", "work")
    await ask("memory", "predicates", "set", "shoe_size", "--cardinality", "single")

    listed = (await ask("memory", "predicates", "list", "--json")).document["predicates"]
    shown = await ask("memory", "predicates", "list")

    by_name = {one["name"]: one for one in listed}
    assert by_name["employer"]["is_default"]
    assert by_name["lives_in"] == {
        "name": "lives_in",
        "cardinality": "single",
        "category": "work",
        "is_default": False,
    }
    assert by_name["shoe_size"]["category"] == "knowledge"
    assert "shoe_size" in shown.out


async def test_a_setting_is_changed_for_one_agent_and_back(ask: Ask) -> None:
    first = (await ask("memory", "settings", "get", *ADA, "--json")).document
    changed = await ask("memory", "settings", "set", "auto_retrieve_max_results", "2", *ADA)
    now = (await ask("memory", "settings", "get", *ADA, "--json")).document
    others = (await ask("memory", "settings", "get", "--agent", "eve", "--json")).document
    word = ("memory", "settings", "set", "auto_retrieve_max_results", "default")
    back = (await ask(*word, *ADA, "--json")).document

    assert first["auto_retrieve_max_results"] == 4
    assert "auto_retrieve_max_results" in changed.out
    assert now == first | {"auto_retrieve_max_results": 2}
    assert others == first
    assert back == {"auto_retrieve_max_results": 4}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("auto_retrieve_enabled", "false", False),
        ("obsidian_context_notes", '["Profile.md", "Carrière.md"]', ["Profile.md", "Carrière.md"]),
        ("obsidian_context_tag", "2026/work", "2026/work"),
        ("obsidian_context_tag", "", ""),
        ("language", "German", "german"),
        ("language", "simple", "simple"),
        ("retrieval_preset", "leonidas", "leonidas"),
        ("retrieval_policy", '{"semantic": 0.9}', {"semantic": 0.9}),
    ],
)
async def test_values_are_read_as_what_the_setting_is(
    ask: Ask, name: str, text: str, value: Any
) -> None:
    said = (await ask("memory", "settings", "set", name, text, *ADA, "--json")).document
    kept = (await ask("memory", "settings", "get", name, *ADA, "--json")).document

    assert said == kept == {name: value}


async def test_all_settings_are_reset_at_once(ask: Ask) -> None:
    first = (await ask("memory", "settings", "get", *ADA, "--json")).document
    await ask("memory", "settings", "set", "auto_retrieve_enabled", "false", *ADA)
    await ask("memory", "settings", "set", "retrieval_preset", "leonidas", *ADA)

    back = (await ask("memory", "settings", "reset", "--all", *ADA, "--json")).document

    assert back == first
