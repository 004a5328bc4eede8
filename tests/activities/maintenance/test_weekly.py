"""The weekly maintenance: confidence decays, what nothing supports any more fades and may come back, orphans go."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Steps

START = datetime(2030, 1, 7, 12, tzinfo=UTC)
Maintain = Callable[..., Any]
Tell = Callable[..., Awaitable[None]]


def days(number: float) -> timedelta:
    return timedelta(days=number)


@pytest.fixture
def maintain(memory: Memory, settings: Settings) -> Maintain:
    """Runs the weekly maintenance of the tenant so many days after the start."""

    async def index(*_: object) -> tuple[int, int]:
        raise AssertionError("nobody asks")

    activities = MaintenanceActivities(memory, index_vectors=index, count_tokens=count_tokens)

    async def step(after: float, **fields: Any) -> StepResult:
        params = MaintenanceStep(
            tenant_id=settings.tenant_id,
            kind="weekly",
            scheduled_at=START + days(after),
            **fields,
        )
        result: StepResult = await ActivityEnvironment().run(activities.maintain, params)
        return result

    return step


@pytest.fixture
def tell(ada: MemoryClient, memory: Memory, settings: Settings) -> Tell:
    """Says something so many days after the start, and has it learned."""
    learning = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    steps = Steps(learning, settings)

    async def tell(content: str, *, after: float = 0, session: str = "chat") -> None:
        message = Resource(
            session_id=session,
            source_id=f"{content} {after}",
            channel="mail",
            speaker="Mara",
            content=content,
            at=START + days(after),
        )
        await ada.ingest([message])
        await steps.extract()
        await steps.learn()
        await steps.embed()

    return tell


async def only_fact(ada: MemoryClient) -> Fact:
    (fact,), _ = await ada.facts.list(statuses=("active", "archived"))
    return fact


async def test_half_of_the_confidence_is_left_after_a_half_life(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    before = await only_fact(ada)

    done = await maintain(30.5)

    fact = await only_fact(ada)
    assert done.counts == {"decayed": 1}
    assert fact == before.model_copy(update={"decayed_confidence": fact.decayed_confidence})
    assert fact.decayed_confidence == pytest.approx(before.confidence / 2, abs=1e-4)


async def test_two_runs_in_a_day_do_not_decay_twice(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    await maintain(30)
    once = await only_fact(ada)

    again = await maintain(30.4)

    assert again.counts == {}
    assert await only_fact(ada) == once


async def test_who_says_so_again_restores_the_confidence_and_other_claims_leave_it(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    await maintain(30)
    await tell("I like tea.", after=31)
    facts, _ = await ada.facts.list(predicate="lives_in")
    assert facts[0].decayed_confidence is not None

    await tell("I live in Porto.", after=32)

    facts, _ = await ada.facts.list(predicate="lives_in")
    assert facts[0].decayed_confidence is None
    await maintain(62)
    facts, _ = await ada.facts.list(predicate="lives_in")
    assert facts[0].decayed_confidence == pytest.approx(facts[0].confidence / 2, abs=1e-4)


async def test_what_is_used_does_not_decay(
    ada: MemoryClient,
    tell: Tell,
    maintain: Maintain,
    memory: Memory,
    settings: Settings,
    learn_at_message_time: Callable[[], None],
) -> None:
    today = (datetime.now(UTC) - START) / days(1)
    await tell("I live in Porto.", after=today - 100)
    learn_at_message_time()
    ((entry,), _) = await ada.entries.list(EntryQuery())
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.accesses.count({entry.id: 1})

    assert (await maintain(today)).counts == {}
    await ada.entries.archive(entry.id)
    assert (await maintain(today + 0.1)).counts == {}
    assert (await only_fact(ada)).status == "active"


async def test_an_old_message_decays_from_when_it_was_learned(
    tell: Tell, maintain: Maintain
) -> None:
    today = (datetime.now(UTC) - START) / days(1)
    await tell("I live in Porto.", after=today - 3000)

    assert (await maintain(today)).counts == {}
    assert (await maintain(today + 89)).counts == {"decayed": 1}
    assert (await maintain(today + 98)).counts["faded"] == 1


async def test_an_older_week_takes_no_later_decay_back(
    ada: MemoryClient, tell: Tell, maintain: Maintain, learn_at_message_time: Callable[[], None]
) -> None:
    today = (datetime.now(UTC) - START) / days(1)
    await tell("I live in Porto.", after=today - 60)
    learn_at_message_time()
    await maintain(today)
    decayed = await only_fact(ada)

    backfilled = await maintain(today - 30)

    assert decayed.decayed_confidence == pytest.approx(decayed.confidence / 4, abs=1e-4)
    assert backfilled.counts == {}
    assert await only_fact(ada) == decayed


async def test_a_week_that_only_restores_confidence_does_so(
    ada: MemoryClient,
    tell: Tell,
    maintain: Maintain,
    memory: Memory,
    settings: Settings,
    learn_at_message_time: Callable[[], None],
) -> None:
    today = (datetime.now(UTC) - START) / days(1)
    await tell("I live in Porto.", after=today - 60)
    learn_at_message_time()
    await maintain(today)
    ((entry,), _) = await ada.entries.list(EntryQuery())
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.accesses.count({entry.id: 1})

    done = await maintain(today + 0.1)

    assert done.counts == {"confidence_restored": 1}
    assert (await only_fact(ada)).decayed_confidence is None


async def test_a_fact_fades_below_the_threshold_and_a_later_message_brings_it_back(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    before = await only_fact(ada)

    assert "faded" not in (await maintain(89.5)).counts
    assert (await maintain(96)).counts["faded"] == 1

    faded = await only_fact(ada)
    assert (faded.id, faded.status, faded.end, faded.valid_to) == (
        *(before.id, "archived", "faded"),
        None,
    )
    assert (await maintain(103)).counts == {}
    (version,) = (await ada.facts.history("Mara", "lives_in")).facts
    assert version.reason == "faded: nobody has said or used it for a long time"
    await tell("I live in Porto.", after=110)
    back = await only_fact(ada)
    assert (back.id, back.status, back.end) == (before.id, "active", None)
    assert (await maintain(111)).counts == {"decayed": 1}


async def test_a_faded_fact_is_not_false_so_its_message_is_found(
    ada: MemoryClient, tell: Tell, maintain: Maintain, learn_at_message_time: Callable[[], None]
) -> None:
    today = (datetime.now(UTC) - START) / days(1)
    await tell("I live in Porto.", after=today - 96)
    learn_at_message_time()
    ((entry,), _) = await ada.entries.list(EntryQuery())
    before = await ada.retrieve("Where does Mara live?", is_access=False)

    await maintain(today)

    after = await ada.retrieve("Where does Mara live?", is_access=False)
    archived = await ada.retrieve("Where does Mara live?", is_access=False, statuses=["archived"])
    assert [(one.entry.id, one.score) for one in after.results] == [
        (one.entry.id, one.score) for one in before.results
    ]
    assert after.results[0].entry.id == entry.id
    assert archived.results == ()
    assert (await ada.facts.list())[0] == ()


async def test_a_faded_fact_that_no_message_states_is_found_until_it_is_superseded(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    ((entry,), _) = await ada.entries.list(EntryQuery())
    await ada.entries.archive(entry.id)  # so that the fact has an entry of its own
    assert len((await ada.entries.list(EntryQuery(kinds=("fact",))))[0]) == 1

    assert (await maintain(96)).counts["faded"] == 1
    assert len((await ada.entries.list(EntryQuery(kinds=("fact",))))[0]) == 1
    await tell("I live in Ghent.", after=100)

    facts, _ = await ada.facts.list(statuses=("active", "archived"))
    assert {(fact.object, fact.status, fact.end) for fact in facts} == {
        ("Porto", "archived", "superseded"),
        ("Ghent", "active", None),
    }


async def test_a_person_brings_a_faded_fact_back_for_good(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    await maintain(96)

    await ada.facts.reactivate((await only_fact(ada)).id)

    assert (await only_fact(ada)).status == "active"
    assert (await maintain(999)).counts == {}


async def test_what_a_person_added_and_what_a_critical_entry_says_do_not_decay(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")
    ((entry,), _) = await ada.entries.list(EntryQuery())
    await ada.entries.change(entry.id, critical=True)
    await ada.facts.add("Mara", "likes", "tea")

    assert (await maintain(999)).counts == {}
    await ada.entries.archive(entry.id)

    assert (await maintain(1000)).counts == {}


async def test_a_repeated_or_dry_run_changes_nothing(
    ada: MemoryClient, tell: Tell, maintain: Maintain
) -> None:
    await tell("I live in Porto.")

    dry = await maintain(96, dry_run=True)
    before = await only_fact(ada)
    first, again = await maintain(96), await maintain(96)

    assert dry.counts == first.counts == again.counts == {"decayed": 1, "faded": 1}
    assert before.status == "active"
    assert before.decayed_confidence is None


async def test_messages_that_nothing_refers_to_are_removed(
    ada: MemoryClient,
    tell: Tell,
    maintain: Maintain,
    memory: Memory,
    settings: Settings,
    messages: Callable[[], Sequence[str]],
) -> None:
    gone = ("Nice weather.", "I live in Porto.", "Hello from the job.", "Good night.", "Good bye.")
    for content in gone:
        await tell(content, session="job" if "job" in content else "chat")
    await ada.messages.append([stored_only()])
    entries = {one.content: one.id for one in (await ada.entries.list(EntryQuery()))[0]}
    await ada.entries.archive(entries["Good night."])
    for content in ("Nice weather.", "I live in Porto.", "Hello from the job."):
        await ada.entries.remove(entries[content])
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        told = Episode(
            id="e1",
            agent_id="ada",
            session_id="job",
            job_id="j1",
            summary="Ended.",
            payload={},
            created_at=START,
        )
        await transaction.episodes.append(told)

    done = await maintain(1)

    assert done.counts["messages_removed"] == 1
    left = {"I live in Porto.", "Hello from the job.", "Good night.", "Good bye.", "Only stored."}
    assert set(messages()) == left
    assert "messages_removed" not in (await maintain(2)).counts
    await tell("Nice weather.")
    assert "Nice weather." not in {one.content for one in (await ada.entries.list(EntryQuery()))[0]}


@pytest.fixture
def messages(admin_url: str, settings: Settings) -> Callable[[], Sequence[str]]:
    """The raw messages of the tenant."""

    def read() -> Sequence[str]:
        with psycopg.connect(admin_url) as connection:
            rows = connection.execute(
                "SELECT content FROM mnestic.resource WHERE tenant_id = %s", [settings.tenant_id]
            )
            return [content for (content,) in rows.fetchall()]

    return read


def stored_only() -> Resource:
    return Resource(
        session_id="chat",
        source_id="stored",
        channel="mail",
        speaker="Mara",
        content="Only stored.",
        at=START,
    )
