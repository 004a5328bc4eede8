"""Summaries of large memories by time: nights build them level by level, and none outlives a message that it was made of."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.openai_compatible import OpenAISummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.activities.maintenance.period_summaries import PeriodSummaryBuilder
from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.maintenance.reports import run_name
from mnestic.memory.models.messages import ChatMessage, Summary
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Begin, Execute
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
ROWS = "SELECT s::text FROM mnestic.summary AS s WHERE tenant_id = %s ORDER BY 1"


@pytest.fixture
def claim(begin: Begin) -> Claims:
    """Claims something that a message states."""

    async def add(message: Resource, predicate: str, value: str, **more: Any) -> None:
        place = {"session_id": message.session_id, "source_id": message.source_id}
        one = Claim(
            id=f"{message.source_id}/{predicate}",
            subject=message.speaker,
            predicate=predicate,
            object=value,
            said_at=message.at,
            source=ClaimSource(extractor="test", **place),
            **more,
        )
        async with begin() as transaction:
            await transaction.facts.claim([one])

    return add


@pytest.fixture
def build_with(begin: Begin) -> Callable[[LocalSummariser], Awaitable[Counter[str]]]:
    """Builds ada's summaries by a summariser."""

    async def build(summariser: LocalSummariser) -> Counter[str]:
        builder = PeriodSummaryBuilder(
            lambda *, write: begin(write=write),
            at=NIGHT,
            quoting=summariser,
            count_tokens=count_tokens,
        )
        return await builder.build(above=0)

    return build


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
    ada: MemoryClient, build: Build, begin: Begin
) -> None:
    await say(ada, said("We planted 12 roses.", days=8), said("The roses bloom.", days=40))
    await build()
    later = NIGHT + timedelta(days=1)
    await say(ada, said("The plumber mended the boiler.", days=9, session="s9"))

    dry = await build(later, dry_run=True)
    done = await build(later)

    async with begin(write=False) as transaction:
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


@pytest.mark.parametrize("how", ["remove", "archive", "change", "correct"])
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
    elif how == "correct":
        text = "There were 9 tulips."
        await ada.add(text, entry_type="correction", parent=roses.id, at=BOILER.at)
    else:
        await ada.entries.delete(roses.id)

    left = await summaries()
    assert left.keys() - {"life"} == OTHERS
    assert "roses" not in "".join(left.values())
    await build(NIGHT + timedelta(days=1))
    after = "".join((await summaries()).values())
    assert "roses" not in after
    assert ("tulips" in after) == (how in {"change", "correct"})


@pytest.mark.parametrize("how", ["remove", "archive", "change"])
async def test_what_happens_to_private_messages_clears_no_summary(
    ada: MemoryClient, build: Build, summaries: Names, how: str
) -> None:
    lilies = said("We planted 5 lilies in the garden.", days=8.1)
    await say(ada, ROSES, BOILER, lilies.model_copy(update={"readers": ("user.ben",)}))
    entries, _ = await ada.contexts.list_messages()
    (private,) = (entry for entry in entries if "lilies" in entry.content)
    await build()
    before = await summaries()

    if how == "change":
        await ada.entries.change(private.id, content="We planted nothing.")
    elif how == "archive":
        await ada.entries.archive(private.id)
    else:
        await ada.entries.delete(private.id)

    assert await summaries() == before
    assert "lilies" not in "".join(before.values())


async def test_what_a_cleanup_archives_is_in_summaries_until_it_is_deleted(
    ada: MemoryClient, build: Build, summaries: Names, begin: Begin
) -> None:
    await say(ada, ROSES, BOILER)
    await build()
    before = await summaries()
    (_, roses), _ = await ada.contexts.list_messages()
    async with begin() as transaction:
        mark = ArchiveMark(archived_at=NIGHT, reason="unimportant", run="cleanup")
        await transaction.archive.add([roses.id], mark)

    again = await build(NIGHT + timedelta(days=1))
    archived = await summaries()
    async with begin() as transaction:
        await remove_entries(transaction, [roses.id])

    assert (again.counts, archived) == ({}, before)
    assert (await summaries()).keys() == OTHERS


async def test_a_fact_that_ends_leaves_every_summary_at_once(
    ada: MemoryClient, build: Build, summaries: Names, claim: Claims
) -> None:
    ghent = said("I live in Ghent now.", days=8)
    again = said("I do live in Ghent.", days=8.2)
    await say(ada, ghent, said("It rains in the garden.", days=8.1), BOILER, again)
    await claim(ghent, "lives_in", "Ghent")
    await build()
    before = await summaries()
    assert "Ghent" in before["life"]
    await claim(again, "lives_in", "Ghent")
    assert await summaries() == before

    await ada.facts.add("Mara", "lives_in", "Oslo")

    assert (await summaries()).keys() == OTHERS
    await build(NIGHT + timedelta(days=1))
    after = await summaries()
    assert "Ghent" not in "".join(after.values())
    assert after["month 2029-05"] == "Mara: It rains in the garden."


async def test_a_message_that_goes_while_it_is_summarised_is_in_no_summary(
    ada: MemoryClient, build_with: Any, summaries: Names
) -> None:
    await say(ada, ROSES)
    (roses,), _ = await ada.contexts.list_messages()

    class Slow(LocalSummariser):
        async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
            await ada.entries.delete(roses.id)
            return await super().summarise(turns, max_chars=max_chars)

    assert await build_with(Slow()) == Counter(summaries_built=0)
    assert await summaries() == {}


async def test_a_run_that_was_killed_goes_on_where_it_was(
    ada: MemoryClient, begin: Begin, build_with: Any, build: Build, execute: Execute
) -> None:
    await say(ada, ROSES, BOILER, said("It rains in the garden.", days=9))
    whole = await build()
    wanted = execute(ROWS)
    async with begin() as transaction:
        await transaction.summaries.remove_all()
    calls = 0

    class Killed(LocalSummariser):
        async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
            nonlocal calls
            calls += 1
            if calls > 3:
                raise KeyboardInterrupt
            return await super().summarise(turns, max_chars=max_chars)

    with pytest.raises(KeyboardInterrupt):
        await build_with(Killed())
    begun = execute(ROWS)
    resumed = await build()

    assert 0 < len(begun) < len(wanted)
    assert execute(ROWS) == wanted
    assert resumed == whole


async def test_more_than_a_model_is_sent_at_once_is_summarised_in_steps(
    ada: MemoryClient, build_with: Any, summaries: Names
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

    await build_with(Watched())

    assert len(lengths) > 6
    assert max(lengths) <= 24_000
    assert "apples" in (await summaries())["life"]


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


async def test_a_model_writes_weeks_months_and_the_life_as_far_as_the_budget_of_the_run_goes(
    ada: MemoryClient,
    build: Build,
    openai: AsyncOpenAI,
    chat_server: Any,
    summaries: Names,
    begin: Begin,
) -> None:
    await say(ada, ROSES, BOILER)
    chat_server.completes(json.dumps({"summary": "Mara tends her house."}))
    model = OpenAISummariser(openai, model="small")

    would = await build(summariser=model, calls=3, dry_run=True)
    first = await build(summariser=model, calls=3)
    begun = await summaries()
    rest = await build(summariser=model)

    assert would.counts == {"summaries_built": 7, "model_calls_estimated": 5}
    assert first.counts == {"summaries_built": 7, "summaries_left": 2}
    (problem,) = first.problems
    assert "3 model calls; summaries that quote until the next run: 2" in problem
    assert begun["week 2029-05-07"] == "Mara tends her house."
    assert "assistant: Mara tends her house." in begun["life"]  # it quotes the months
    assert rest == StepResult(counts={"summaries_built": 7})
    texts = await summaries()
    assert texts["life"] == texts["week 2029-05-07"] == "Mara tends her house."
    assert texts["session s1 2029-05-07"] == "Mara: We planted 12 roses in the garden."
    async with begin("*", write=False) as transaction:
        assert (await transaction.usage.sum_by_run(run_name("nightly", NIGHT))).calls == 5


async def test_a_summary_that_the_model_has_no_words_for_or_no_budget_for_quotes(
    ada: MemoryClient, build: Build, openai: AsyncOpenAI, chat_server: Any, summaries: Names
) -> None:
    await say(ada, BOILER)
    chat_server.completes(json.dumps({"summary": "x"}))
    model = OpenAISummariser(openai, model="small")
    quoted = dict.fromkeys(("life", *OTHERS), "Mara: The plumber mended the boiler.")

    none = await build(summariser=model, calls=0)
    without = await summaries()
    refused = await build(summariser=model)
    again = await build(summariser=model)

    assert none.counts == {"summaries_built": 4, "summaries_left": 3}
    assert without == quoted == await summaries()
    assert len(refused.problems) == 3
    assert (
        "month 2029-06: model served-model-0613 refused: its summary has no word"
        in refused.problems[1]
    )
    assert (again.problems, len(chat_server.requests)) == ((), 3)


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
