"""`mnestic memory importance`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Ask = Callable[..., Awaitable[Any]]
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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("set", "recency", "3"), "recency: Input should be less than or equal to 1; it is 3"),
        (("set", "recentness", "1"), "importance recentness: is not known; there are entry_type,"),
        (("reset",), "name some weights, or give --all"),
    ],
)
async def test_bad_input_gets_one_clear_error(
    ask: Ask, arguments: tuple[str, ...], why: str
) -> None:
    refused = await ask(*POLICY, *arguments)

    assert why in refused.error(code=2)
