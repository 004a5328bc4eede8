"""Categories: nights store their summaries, and no summary outlives a fact that it tells."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Begin
from tests.activities.locks import until_held_up

Run = Callable[..., Any]
LATER = datetime(2030, 3, 3, 12, tzinfo=UTC)


async def test_a_night_writes_the_summaries_of_categories_that_changed(
    ada: MemoryClient, run: Run, stored: Run
) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")
    await ada.facts.add("Tom", "lives_in", "Bergen")
    await ada.facts.add("Mara", "employer", "Acme")

    first = await run()
    await ada.facts.add("Tom", "employer", "Initech")
    changed = stored()["category"]
    second = await run(LATER)

    assert first.counts["categories_rebuilt"] == 2
    assert [",," in row for row in changed] == [False, True]  # that of work is cleared
    assert second.counts["categories_rebuilt"] == 1
    assert await _summaries(ada) == {
        "profile": "Tom lives in Bergen. Mara lives in Ghent.",
        "work": "Tom works at Initech. Mara works at Acme.",
    }
    assert (await run(LATER + timedelta(hours=1))).counts == {}


async def test_a_fact_that_begins_later_is_in_the_summary_from_then_on(
    ada: MemoryClient, run: Run
) -> None:
    await ada.facts.add("Mara", "likes", "tea")
    await ada.facts.add("Mara", "likes", "rain", valid_from=LATER - timedelta(hours=12))
    await run(LATER - timedelta(days=1))

    done = await run(LATER)

    assert done.counts["categories_rebuilt"] == 1
    assert await _summaries(ada) == {"preferences": "Mara likes rain. Mara likes tea."}
    assert "categories_rebuilt" not in (await run(LATER + timedelta(hours=1))).counts


async def test_a_superseded_or_deleted_fact_is_in_no_summary_from_that_moment_on(
    ada: MemoryClient, run: Run, stored: Run
) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")
    await run(datetime.now(UTC) - timedelta(days=30))
    assert await _summaries(ada) == {"profile": "Mara lives in Ghent."}

    changes = await ada.facts.add("Mara", "lives_in", "Oslo")
    assert await _summaries(ada) == {"profile": "Mara lives in Oslo."}
    context = await ada.context_for_query("What is new?")
    assert "Oslo" in context.text
    assert "Ghent" not in context.text

    for change in changes:
        await ada.facts.delete(change.fact.id)

    assert not [row for row in stored()["category"] if "Oslo" in row or "Ghent" in row]
    assert await _summaries(ada) == {"profile": ""}


async def test_what_is_to_come_or_has_an_end_or_reads_as_more_is_in_no_summary(
    ada: MemoryClient,
) -> None:
    now = await ada.facts.now()
    await ada.facts.add("Mara", "likes", "tea")
    await ada.facts.add("Mara", "likes", "rain", valid_from=now + timedelta(days=9))
    await ada.facts.add("Mara", "likes", "snow", valid_to=now + timedelta(days=9))
    await ada.facts.add("Mara", "likes", "jazz. Tom hates jazz")

    assert await _summaries(ada) == {"preferences": "Mara likes tea."}


async def test_a_fact_that_changes_during_a_night_is_not_missed(
    ada: MemoryClient, begin: Begin, admin_url: str
) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent")

    async with begin() as night:
        await night.categories.lock()
        change = asyncio.create_task(ada.facts.add("Mara", "lives_in", "Oslo"))
        await until_held_up(admin_url)
        (profile,) = await night.categories.read(await night.now())
        assert [fact.object for fact in profile.facts] == ["Ghent"]
        await night.categories.put({"profile": "Mara lives in Ghent."}, at=LATER)
    await change

    assert await _summaries(ada) == {"profile": "Mara lives in Oslo."}


async def _summaries(memory: MemoryClient) -> dict[str, str]:
    return {one.name: one.summary for one in await memory.contexts.list_categories()}
