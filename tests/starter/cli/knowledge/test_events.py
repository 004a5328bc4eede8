"""`mnestic memory events`."""

from collections.abc import Awaitable, Callable
from typing import Any

Ask = Callable[..., Awaitable[Any]]
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


async def test_a_kind_that_there_is_not_is_refused_with_those_there_are(ask: Ask) -> None:
    refused = await ask("memory", "events", *ADA, "--kind", "memory.forgotten")

    assert "memory.superseded" in refused.error(code=2)
