"""`mnestic memory predicates`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Ask = Callable[..., Awaitable[Any]]


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


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("likes",), "--cardinality"),
        (("likes", "--cardinality", "some"), "'single' or 'multi'"),
        (("likes", "--category", "fun"), "'preferences'"),
        (("I like", "--cardinality", "multi"), "such as i_like"),
    ],
)
async def test_what_no_predicate_can_be_is_one_clear_error(
    ask: Ask, words: tuple[str, ...], why: str
) -> None:
    done = await ask("memory", "predicates", "set", *words)

    assert why in done.error(code=2)
