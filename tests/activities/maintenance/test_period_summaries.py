"""Summaries of large memories by time: nights build them level by level, and none outlives a message that it was made of."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.activities.maintenance.period_summaries import PeriodSummaryBuilder
from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.memory.ports import Memory, Transaction
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.maintenance.period_samples import (
    BOILER,
    NIGHT,
    OTHERS,
    ROSES,
    Build,
    Names,
    said,
    say,
)

Claims = Callable[..., Awaitable[None]]
Rows = Callable[[], list[Any]]


@pytest.fixture
def claim(memory: Memory, settings: Settings) -> Claims:
    """Claims something that a message states."""

    async def add(message: Resource, predicate: str, value: str, **more: Any) -> None:
        one = Claim(
            id=f"{message.source_id}/{predicate}",
            subject=message.speaker,
            predicate=predicate,
            object=value,
            said_at=message.at,
            source=ClaimSource(
                extractor="test", session_id=message.session_id, source_id=message.source_id
            ),
            **more,
        )
        async with begin(memory, settings) as transaction:
            await transaction.facts.claim([one])

    return add


@pytest.fixture
def rows(admin_url: str, settings: Settings) -> Rows:
    """The rows of all summaries, as they are stored."""

    def read() -> list[Any]:
        with psycopg.connect(admin_url) as connection:
            return connection.execute(
                "SELECT s::text FROM mnestic.summary AS s WHERE tenant_id = %s ORDER BY 1",
                [settings.tenant_id],
            ).fetchall()

    return read


def begin(
    memory: Memory, settings: Settings, *, write: bool = True
) -> AbstractAsyncContextManager[Transaction]:
    return memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=write
    )


async def test_each_level_is_built_of_the_one_below(
    ada: MemoryClient, build: Build, summaries: Names
) -> None:
    await say(
        ada,
        said("The boiler hums at night.", days=0),
        said("The plumber mended the boiler.", days=1),
        said("We planted 12 roses in the garden.", days=8, session="s2"),
    )

    done = await build()

    assert await summaries() == {
        "life": "Mara: The boiler hums at night. The plumber mended the boiler. We planted 12 roses in the garden.",
        "month 2029-05": "Mara: The plumber mended the boiler. We planted 12 roses in the garden.",
        "month 2029-04": "Mara: The boiler hums at night.",
        "week 2029-05-07": "Mara: We planted 12 roses in the garden.",
        "week 2029-05-01": "Mara: The plumber mended the boiler.",
        "week 2029-04-30": "Mara: The boiler hums at night.",
        "session s2 2029-05-07": "Mara: We planted 12 roses in the garden.",
        "session s1 2029-05-01": "Mara: The plumber mended the boiler.",
        "session s1 2029-04-30": "Mara: The boiler hums at night.",
    }
    assert done == StepResult(counts={"summaries_built": 9})


async def test_a_late_message_refreshes_its_week_its_month_and_the_life_alone(
    ada: MemoryClient, build: Build, memory: Memory, settings: Settings
) -> None:
    await say(ada, said("We planted 12 roses.", days=8), said("The roses bloom.", days=40))
    await build()
    later = NIGHT + timedelta(days=1)
    await say(ada, said("The plumber mended the boiler.", days=9, session="s9"))

    dry = await build(later, dry_run=True)
    done = await build(later)

    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
    ) as transaction:
        found, _ = await transaction.summaries.list_summaries()
    anew = {one.name for one in found if one.updated_at == later}
    assert anew == {"life", "month 2029-05", "week 2029-05-07", "session s9 2029-05-07"}
    assert dry == done == StepResult(counts={"summaries_built": 4})
    assert (await build(later + timedelta(days=1))).counts == {}


async def test_an_agent_with_few_messages_has_no_summaries(
    ada: MemoryClient, build: Build, summaries: Names
) -> None:
    await say(ada, said("We planted 12 roses.", days=8), said("The roses bloom.", days=40))

    few = await build(above=2)
    none = await summaries()
    many = await build(above=1)
    again = await build(above=2)

    assert (few.counts, none) == ({}, {})
    assert many.counts == {"summaries_built": 7}
    assert again.counts == {"summaries_removed": 7}
    assert await summaries() == {}


@pytest.mark.parametrize("how", ["remove", "archive", "change"])
async def test_what_is_removed_archived_or_changed_leaves_every_summary_at_once(
    ada: MemoryClient, build: Build, summaries: Names, how: str
) -> None:
    await say(ada, ROSES, BOILER)
    entries, _ = await ada.contexts.list_messages()
    (roses,) = (entry for entry in entries if "roses" in entry.content)
    await build()

    if how == "change":
        await ada.entries.change(roses.id, content="We planted 12 tulips in the garden.")
    elif how == "archive":
        await ada.entries.archive(roses.id)
    else:
        await ada.entries.remove(roses.id)

    left = await summaries()
    assert left.keys() - {"life"} == OTHERS
    assert "roses" not in "".join(left.values())
    await build(NIGHT + timedelta(days=1))
    after = "".join((await summaries()).values())
    assert "roses" not in after
    assert ("tulips" in after) == (how == "change")


async def test_what_a_cleanup_archives_is_in_summaries_until_it_is_deleted(
    ada: MemoryClient, build: Build, summaries: Names, memory: Memory, settings: Settings
) -> None:
    await say(ada, ROSES, BOILER)
    await build()
    before = await summaries()
    (_, roses), _ = await ada.contexts.list_messages()
    async with begin(memory, settings) as transaction:
        mark = ArchiveMark(archived_at=NIGHT, reason="unimportant", run="cleanup")
        await transaction.archive.add([roses.id], mark)

    again = await build(NIGHT + timedelta(days=1))
    archived = await summaries()
    async with begin(memory, settings) as transaction:
        await remove_entries(transaction, [roses.id])

    assert (again.counts, archived) == ({}, before)
    assert (await summaries()).keys() == OTHERS


async def test_a_fact_that_ends_leaves_every_summary_at_once(
    ada: MemoryClient, build: Build, summaries: Names, claim: Claims
) -> None:
    ghent = said("I live in Ghent now.", days=8)
    await say(ada, ghent, said("It rains in the garden.", days=8.1), BOILER)
    await claim(ghent, "lives_in", "Ghent")
    await build()
    assert "Ghent" in (await summaries())["life"]

    await ada.facts.add("Mara", "lives_in", "Oslo")

    assert (await summaries()).keys() == OTHERS
    await build(NIGHT + timedelta(days=1))
    after = await summaries()
    assert "Ghent" not in "".join(after.values())
    assert after["month 2029-05"] == "Mara: It rains in the garden."


async def test_a_message_that_is_said_again_later_changes_nothing(
    ada: MemoryClient, build: Build, summaries: Names, claim: Claims
) -> None:
    ghent, again = said("I live in Ghent now.", days=8), said("I do live in Ghent.", days=40)
    await say(ada, ghent, again)
    await claim(ghent, "lives_in", "Ghent")
    await build()
    before = await summaries()

    await claim(again, "lives_in", "Ghent")

    assert await summaries() == before


async def test_a_corrected_message_leaves_every_summary_at_once(
    ada: MemoryClient, build: Build, summaries: Names
) -> None:
    await say(ada, ROSES, BOILER)
    await build()
    (_, roses), _ = await ada.contexts.list_messages()

    await ada.add("There were 9 tulips.", entry_type="correction", parent=roses.id, at=BOILER.at)

    assert (await summaries()).keys() == OTHERS
    await build(NIGHT + timedelta(days=1))
    assert "roses" not in "".join((await summaries()).values())


async def test_what_expires_or_has_an_end_is_in_no_summary(
    ada: MemoryClient, build: Build, summaries: Names, claim: Claims
) -> None:
    rome = said("I am in Rome until Friday.", days=8)
    await say(ada, rome, BOILER)
    await claim(rome, "located_in", "Rome", valid_to=datetime(2090, 1, 1, tzinfo=UTC))
    await ada.add("The code is 4711.", at=ROSES.at, expires_at=datetime(2090, 1, 1, tzinfo=UTC))

    await build()

    assert await summaries() == dict.fromkeys(
        ("life", *OTHERS), "Mara: The plumber mended the boiler."
    )


async def test_a_message_that_goes_while_it_is_summarised_is_in_no_summary(
    ada: MemoryClient, memory: Memory, settings: Settings, summaries: Names
) -> None:
    await say(ada, ROSES)
    (roses,), _ = await ada.contexts.list_messages()

    class Slow(LocalSummariser):
        async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
            await ada.entries.remove(roses.id)
            return await super().summarise(turns, max_chars=max_chars)

    builder = PeriodSummaryBuilder(
        lambda *, write: begin(memory, settings, write=write),
        at=NIGHT,
        quoting=Slow(),
        count_tokens=count_tokens,
    )

    assert await builder.build(above=0) == Counter(summaries_built=0)
    assert await summaries() == {}


async def test_a_run_that_was_killed_goes_on_where_it_was(
    ada: MemoryClient, memory: Memory, settings: Settings, build: Build, rows: Rows
) -> None:
    await say(ada, ROSES, BOILER, said("It rains in the garden.", days=9))
    whole = await build()
    wanted = rows()
    async with begin(memory, settings) as transaction:
        await transaction.summaries.remove_all()
    calls = 0

    class Killed(LocalSummariser):
        async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
            nonlocal calls
            calls += 1
            if calls > 3:
                raise KeyboardInterrupt
            return await super().summarise(turns, max_chars=max_chars)

    builder = PeriodSummaryBuilder(
        lambda *, write: begin(memory, settings, write=write),
        at=NIGHT,
        quoting=Killed(),
        count_tokens=count_tokens,
    )
    with pytest.raises(KeyboardInterrupt):
        await builder.build(above=0)
    begun = rows()
    resumed = await build()

    assert 0 < len(begun) < len(wanted)
    assert rows() == wanted
    assert resumed == whole


async def test_more_than_a_model_is_sent_at_once_is_summarised_in_steps(
    ada: MemoryClient, memory: Memory, settings: Settings, summaries: Names
) -> None:
    lengths = []

    class Watched(LocalSummariser):
        async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
            lengths.append(sum(len(turn.content) for turn in turns))
            return await super().summarise(turns, max_chars=max_chars)

    fruits = [f"The orchard has {number} apples. " * 40 for number in range(60)]
    await say(
        ada, *(said(text, days=8 + place / 1000) for place, text in enumerate(fruits, start=1))
    )
    builder = PeriodSummaryBuilder(
        lambda *, write: begin(memory, settings, write=write),
        at=NIGHT,
        quoting=Watched(),
        count_tokens=count_tokens,
    )

    await builder.build(above=0)

    assert len(lengths) > 6
    assert max(lengths) <= 24_000
    assert "apples" in (await summaries())["life"]
