"""The weekly maintenance: confidence decays, what nothing supports any more fades and may come back, orphans go."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Begin, Execute, Learn, said

START = datetime(2030, 1, 7, 12, tzinfo=UTC)
PORTO = "I live in Porto."
Do = Callable[..., Any]


@pytest.fixture
def today() -> float:
    """How many days after the start it is; so far, less than none."""
    return (datetime.now(UTC) - START) / timedelta(days=1)


@pytest.fixture
def maintain(run: Do) -> Do:
    """Runs the weekly maintenance of the tenant so many days after the start."""
    return lambda after: run(START + timedelta(days=after), kind="weekly")


@pytest.fixture
def tell(learn: Learn) -> Do:
    """Says something so many days after the start, and has it learned."""

    async def tell(content: str, *, after: float = 0, session: str = "chat") -> None:
        at = START + timedelta(days=after)
        name = f"{content} {after}"
        await learn(said(0, content, session_id=session, source_id=name, at=at))

    return tell


@pytest.fixture
def tell_then(tell: Do, ada: MemoryClient, learn_at_message_time: Callable[[], None]) -> Do:
    """Has something learned as if it were then; returns its entry."""

    async def tell_and_age(content: str, *, after: float) -> Entry:
        await tell(content, after=after)
        learn_at_message_time()
        ((entry,), _) = await ada.entries.list(EntryQuery())
        return entry

    return tell_and_age


async def only_fact(ada: MemoryClient, **query: Any) -> Fact:
    (fact,), _ = await ada.facts.list(statuses=("active", "archived"), **query)
    return fact


async def test_half_of_the_confidence_is_left_after_a_half_life_and_a_day_counts_once(
    ada: MemoryClient, tell: Do, maintain: Do
) -> None:
    await tell(PORTO)
    before = await only_fact(ada)

    done = await maintain(30)
    fact = await only_fact(ada)
    (edge,) = (await ada.graph.read("Mara", at=START + timedelta(days=30))).edges

    assert done.counts == {"decayed": 1}
    assert fact == before.model_copy(update={"decayed_confidence": fact.decayed_confidence})
    assert fact.decayed_confidence == pytest.approx(before.confidence / 2, abs=1e-4)
    assert edge.weight == pytest.approx(fact.decayed_confidence)
    assert (await maintain(30.4)).counts == {}
    assert await only_fact(ada) == fact


async def test_who_says_so_again_restores_the_confidence_and_other_claims_leave_it(
    ada: MemoryClient, tell: Do, maintain: Do
) -> None:
    await tell(PORTO)
    await maintain(30)
    await tell("I like tea.", after=31)
    decayed = await only_fact(ada, predicate="lives_in")

    await tell(PORTO, after=32)
    restored = await only_fact(ada, predicate="lives_in")
    await maintain(62)
    later = await only_fact(ada, predicate="lives_in")

    assert decayed.decayed_confidence is not None
    assert restored.decayed_confidence is None
    assert later.decayed_confidence == pytest.approx(later.confidence / 2, abs=1e-4)


async def test_what_is_used_does_not_decay_and_gets_its_confidence_back(
    ada: MemoryClient, tell_then: Do, maintain: Do, count_accesses: Do, today: float
) -> None:
    entry = await tell_then(PORTO, after=today - 60)
    await maintain(today)
    await count_accesses(entry.id)

    done = await maintain(today + 0.1)

    assert done.counts == {"confidence_restored": 1}
    assert (await only_fact(ada)).decayed_confidence is None
    await ada.entries.archive(entry.id)
    assert (await maintain(today + 0.2)).counts == {}


async def test_a_fact_fades_below_the_threshold_and_a_later_message_brings_it_back(
    ada: MemoryClient, tell: Do, maintain: Do
) -> None:
    await tell(PORTO)
    before = await only_fact(ada)

    assert "faded" not in (await maintain(89.5)).counts
    assert (await maintain(96)).counts["faded"] == 1

    faded = await only_fact(ada)
    assert (faded.id, faded.status, faded.end) == (before.id, "archived", "faded")
    assert faded.valid_to is None
    assert (await maintain(103)).counts == {}
    (version,) = (await ada.facts.history("Mara", "lives_in")).facts
    assert version.reason == "faded: nobody has said or used it for a long time"
    await tell(PORTO, after=110)
    back = await only_fact(ada)
    assert (back.id, back.status, back.end) == (before.id, "active", None)
    assert (await maintain(111)).counts == {"decayed": 1}


async def test_what_a_person_adds_or_brings_back_or_a_critical_entry_says_does_not_decay(
    ada: MemoryClient, tell: Do, maintain: Do
) -> None:
    await tell(PORTO)
    await maintain(96)
    await ada.facts.reactivate((await only_fact(ada)).id)
    await ada.facts.add("Mara", "likes", "tea")
    await tell("I work at Acme.", after=97)
    ((entry, *_), _) = await ada.entries.list(EntryQuery())
    await ada.entries.change(entry.id, critical=True)

    assert (await maintain(999)).counts == {}
    await ada.entries.archive(entry.id)
    assert (await maintain(1000)).counts == {}
    assert len((await ada.facts.list())[0]) == 3


async def test_messages_that_nothing_refers_to_are_removed(
    ada: MemoryClient, tell: Do, maintain: Do, execute: Execute, begin: Begin
) -> None:
    stays = [PORTO, "Hello from the job.", "Good night.", "Good bye."]
    for content in (*stays, "Nice weather."):
        await tell(content, session="job" if "job" in content else "chat")
    await ada.messages.append([said(9, "Only stored.", at=START)])
    entries = {one.content: one.id for one in (await ada.entries.list(EntryQuery()))[0]}
    await ada.entries.archive(entries["Good night."])
    for content in ("Nice weather.", PORTO):
        await ada.entries.delete(entries[content])
    told = Episode(
        id="e1",
        agent_id="ada",
        session_id="job",
        job_id="j1",
        summary="Ended.",
        payload={},
        created_at=START,
    )

    def left() -> set[str]:
        rows = execute("SELECT content FROM mnestic.resource WHERE tenant_id = %s")
        return {content for (content,) in rows}

    assert left() == {*stays, "Only stored."}  # an entry's message goes with it
    async with begin() as transaction:
        await transaction.episodes.append(told)
    await tell("Nice weather.")
    assert left() == {*stays, "Only stored.", "Nice weather."}
    assert "Nice weather." not in {one.content for one in (await ada.entries.list(EntryQuery()))[0]}

    done = await maintain(1)

    assert done.counts["messages_removed"] == 1
    assert left() == {*stays, "Only stored."}
    assert "messages_removed" not in (await maintain(2)).counts
