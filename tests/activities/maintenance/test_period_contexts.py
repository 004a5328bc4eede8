"""Summaries of large memories by time: what contexts begin with, and how they are listed."""

from typing import Any

import pytest

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.maintenance.period_samples import BOILER, NIGHT, ROSES, Build, said, say


async def test_a_context_begins_with_the_life_and_with_the_time_or_session_of_the_question(
    ada: MemoryClient, build: Build
) -> None:
    await say(ada, ROSES, said("The plumber mended the boiler.", days=40, session="visit-7"))
    before = await ada.context_for_query("What is new?")
    await build()

    async def told(question: str, **more: Any) -> list[str]:
        context = await ada.context_for_query(question, **more)
        return [part.name for part in context.kept if part.kind == "summary"]

    assert "summary" not in [part.kind for part in before.kept]
    assert await told("What is new?") == ["life"]
    assert await told("What happened in May 2029?") == ["month 2029-05", "life"]
    assert await told("What happened on 9 May 2029?") == ["week 2029-05-07", "life"]
    assert await told("What was said in visit-7?") == ["session visit-7 2029-06-04", "life"]
    assert await told("What was said?", session_id="visit-7") == ["session visit-7 2029-06-04"]
    assert await told("What is new?", tiers=["facts", "search"]) == []
    assert await told("What is new?", as_of=NIGHT) == []


async def test_until_the_life_is_summarised_again_the_latest_months_stand_for_it(
    ada: MemoryClient, build: Build
) -> None:
    await say(ada, ROSES, BOILER)
    await build()
    (_, roses), _ = await ada.contexts.list_messages()
    await ada.entries.remove(roses.id)

    context = await ada.context_for_query("What is new?")

    assert [part.name for part in context.kept if part.kind == "summary"] == ["month 2029-06"]
    assert "roses" not in context.text


async def test_summaries_leave_room_for_what_the_search_finds(
    ada: MemoryClient, build: Build
) -> None:
    wood = "We walked for hours through the woods behind the old mill and counted birds. "
    await say(ada, *(said(f"{wood}Walk {number}.", days=number) for number in range(1, 90, 9)))
    await build()

    context = await ada.context_for_query("Where did we count birds?", max_tokens=400)

    kinds = [part.kind for part in context.kept]
    assert kinds[0] == "summary"
    assert kinds.count("memory") > 1
    assert context.tokens <= 400


async def test_the_list_of_summaries_has_pages_and_levels(ada: MemoryClient, build: Build) -> None:
    await say(ada, ROSES, BOILER)
    await build()

    everything, _ = await ada.contexts.list_summaries()
    first, cursor = await ada.contexts.list_summaries(limit=2)
    rest, end = await ada.contexts.list_summaries(cursor=cursor)
    weeks, _ = await ada.contexts.list_summaries("week")

    assert (*first, *rest) == everything
    assert end is None
    assert [one.name for one in weeks] == ["week 2029-06-04", "week 2029-05-07"]
    assert [(one.level, one.messages) for one in first] == [("life", 2), ("month", 1)]
    assert all(one.tokens == count_tokens(one.text) for one in everything)
    with pytest.raises(InvalidInputError, match="level"):
        await ada.contexts.list_summaries("year")  # type: ignore[arg-type]
