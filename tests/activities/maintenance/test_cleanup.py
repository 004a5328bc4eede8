"""The daily cleanup: what it archives and deletes, what it never touches, and that it does nothing until it is switched on."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.entries import ArchiveMark, Entry, EntryQuery
from mnestic.memory.maintenance.policies import MaintenancePolicy
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Learn
from tests.activities.maintenance.waiting_jobs import wait_with

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATEX = "I'm allergic to latex."
Clean = Callable[..., Any]


def days(number: float) -> timedelta:
    return timedelta(days=number)


@pytest.fixture
def today() -> float:
    """How many days after the start it is; so far, less than none."""
    return (datetime.now(UTC) - START) / days(1)


@pytest.fixture
def clean(run: Clean, learn: Learn, set_policy: Clean) -> Clean:
    """Runs the cleanup of the tenant so many days after the start, with changes to its policy; it is switched on."""

    async def step(
        after: float,
        *,
        dry_run: bool = False,
        share: float = 1,
        of_month: float = 1,
        is_learned: bool = True,
        allow_removals: bool = False,
        **policy: Any,
    ) -> StepResult:
        changes = {
            "largest_removal_share": share,
            "largest_removal_share_30_days": of_month,
            "cleanup": {"enabled": True} | policy,
        }
        MaintenancePolicy.model_validate(changes)
        if is_learned:
            await learn()
        await set_policy(**changes)
        result: StepResult = await run(
            START + days(after), kind="cleanup", dry_run=dry_run, allow_removals=allow_removals
        )
        return result

    return step


async def say(ada: MemoryClient, content: str, *, after: float = 0, **fields: Any) -> Entry:
    """An entry of little importance: small talk, as soon as it is no longer recent."""
    fields = {"entry_type": "interaction", "at": START + days(after)} | fields
    return await ada.add(content, **fields)


async def hear(ada: MemoryClient, content: str, *, after: float = 0) -> Entry:
    """An entry out of which facts are learned."""
    fields = {"speaker": "Nora", "session_id": "s1", "source_id": content}
    return await say(ada, content, after=after, **fields)


async def live(ada: MemoryClient) -> set[str]:
    entries, _ = await ada.entries.list(EntryQuery(), limit=1000)
    return {entry.content for entry in entries}


async def archived(ada: MemoryClient) -> dict[str, str]:
    page, _ = await ada.entries.list_archived(limit=1000)
    return {one.entry.content: one.mark.reason for one in page}


async def test_what_is_of_little_importance_is_archived_and_deleted_30_days_later_if_that_is_on(
    ada: MemoryClient, clean: Clean
) -> None:
    entry = await say(ada, "Nice weather.")
    await say(ada, "The pump needs oil.", entry_type="insight")

    before = await clean(59.9)
    assert (before.counts.get("archived"), await archived(ada)) == (None, {})
    assert (await clean(60)).counts["archived"] == 1
    assert await archived(ada) == {"Nice weather.": "unimportant"}
    assert "deleted" not in (await clean(89.9, delete_archived=True)).counts
    await ada.entries.restore(entry.id)
    assert (await clean(90, delete_archived=True)).counts == {"archived": 1}
    assert "deleted" not in (await clean(119.9, delete_archived=True)).counts
    assert (await clean(120)).counts == {}
    assert (await clean(120.1, delete_archived=True)).counts == {"deleted": 1}

    assert await archived(ada) == {}
    assert await live(ada) == {"The pump needs oil."}


async def test_what_alone_states_a_fact_stays_however_old_and_however_many_there_are(
    ada: MemoryClient, clean: Clean
) -> None:
    await hear(ada, LATEX)
    await hear(ada, "Nice weather.")

    await clean(1000, max_entries=1, min_importance_threshold=1)

    assert await live(ada) == {LATEX}


@pytest.mark.parametrize(
    ("first", "second"),
    [(LATEX, "Yes, I'm allergic to latex."), ("I live in Haarlem.", "I live in Delft.")],
)
async def test_of_two_that_state_a_fact_or_another_value_the_later_stays(
    ada: MemoryClient, clean: Clean, first: str, second: str
) -> None:
    await hear(ada, first)
    await hear(ada, second, after=1)

    await clean(1000)

    assert await live(ada) == {second}


async def test_what_may_give_a_fact_a_new_value_stays_although_it_was_not_understood(
    ada: MemoryClient, clean: Clean
) -> None:
    await hear(ada, "I changed the wifi password again.")
    await hear(ada, "The wifi password is slow-river-7.", after=1)
    await hear(ada, "The wifi password? Well, let it be copper-kettle-9 then.", after=2)

    await clean(1000)

    assert {fact.object for fact in (await ada.facts.list())[0]} <= {"slow-river-7"}
    assert await live(ada) == {
        "The wifi password is slow-river-7.",
        "The wifi password? Well, let it be copper-kettle-9 then.",
    }


async def test_an_archived_entry_that_alone_states_a_fact_is_not_deleted(
    ada: MemoryClient, clean: Clean, begin: Begin
) -> None:
    ids = [(await hear(ada, content)).id for content in (LATEX, "Nice weather.")]
    mark = ArchiveMark(archived_at=START, reason="unimportant", run="an earlier version's")
    async with begin() as transaction:
        await transaction.archive.add(ids, mark)

    await clean(1000, delete_archived=True, min_importance_threshold=1)

    assert await archived(ada) == {LATEX: "unimportant"}


async def test_the_age_of_an_old_message_counts_from_when_it_was_learned(
    ada: MemoryClient, clean: Clean, today: float
) -> None:
    await say(ada, "Nice weather.", after=today - 3000)

    assert "archived" not in (await clean(today + 59)).counts
    assert (await clean(today + 61)).counts["archived"] == 1


async def test_what_is_archived_bit_by_bit_counts_together_over_30_days(
    ada: MemoryClient, clean: Clean
) -> None:
    for number in range(30):
        await say(ada, f"Hello {number}.", after=number if number < 13 else 60)

    first = await clean(69, of_month=0.4)
    second = await clean(71, of_month=0.4)
    stopped = await clean(72, of_month=0.4)
    later = await clean(102, of_month=0.4)

    assert (first.counts["archived"], second.counts["archived"]) == (10, 2)
    assert "13 of 30 active entries (43%) would be removed within 30 days" in stopped.problems[0]
    assert (stopped.counts["agents_stopped"], "archived" in stopped.counts) == (1, False)
    assert later.counts["archived"] == 1


async def test_what_was_restored_or_accessed_is_not_archived_again_at_once(
    ada: MemoryClient,
    clean: Clean,
    learn_at_message_time: Callable[[], None],
    count_accesses: Clean,
    today: float,
) -> None:
    entry = await say(ada, "Nice weather.", after=today - 100)
    accessed = await say(ada, "Grey sky.", after=today - 100)
    learn_at_message_time()
    await count_accesses(accessed.id)
    assert (await clean(today)).counts["archived"] == 1
    await ada.entries.restore(entry.id)

    assert "archived" not in (await clean(today + 1)).counts
    assert (await clean(today + 61)).counts["archived"] == 2


async def test_of_more_than_the_limit_the_least_important_are_archived_and_no_critical_ones(
    ada: MemoryClient, clean: Clean
) -> None:
    for number in range(3):
        await say(ada, f"Hello {number}.", after=number)
    await say(ada, "The pump needs oil.", entry_type="insight")
    await say(ada, "Never touch the red pipe.", critical=True)

    done = await clean(10, max_entries=3)

    assert done.counts["archived"] == 2
    assert await archived(ada) == {"Hello 0.": "over_limit", "Hello 1.": "over_limit"}
    assert (await clean(10.1, max_entries=3)).counts == {}
    await clean(1000, max_entries=1, min_importance_threshold=1)
    assert await live(ada) == {"Never touch the red pipe."}


@pytest.mark.parametrize("is_named_by_a_model", [True, False])
async def test_a_correction_stays_as_long_as_what_it_corrects(
    ada: MemoryClient, clean: Clean, begin: Begin, *, is_named_by_a_model: bool
) -> None:
    wrong = await say(ada, "The pump is blue.", critical=True)
    if is_named_by_a_model:
        right = await say(ada, "The pump is green.")
        replaces = {"replaces": ((wrong.id, "replaced"),)}
        async with begin() as transaction:
            await transaction.entries.change([right.model_copy(update=replaces)])
    else:
        await say(ada, "The pump is green.", entry_type="correction", parent=wrong.id)

    kept = await clean(1000, max_entries=1)
    await ada.entries.change(wrong.id, critical=False)
    both = await clean(1001, max_entries=1)
    await clean(1002, max_entries=1, min_importance_threshold=0.5)

    assert "archived" not in kept.counts
    assert both.counts["archived"] == 1
    assert {*await archived(ada)} == {"The pump is blue.", "The pump is green."}


async def test_what_waits_to_be_learned_from_or_a_waiting_job_refers_to_stays_until_then(
    ada: MemoryClient, clean: Clean, memory: Memory, settings: Settings, begin: Begin
) -> None:
    cited = await say(ada, "Grey sky over the harbour.")
    await say(ada, "Clouds over the station.", session_id="s1")
    await say(ada, "Nice weather.")
    fact = (await ada.facts.add("Mara", "likes", "tea"))[0].fact
    await wait_with(memory, settings, {"seen": [cited.id, fact.id]})

    unlearned = await clean(99, is_learned=False)
    first = await clean(100)
    assert await archived(ada) == {"Nice weather.": "unimportant"}
    async with begin() as transaction:
        await transaction.waits.cancel_open("j1")
    second = await clean(101)

    assert "archived" not in unlearned.counts
    assert (first.counts["archived"], second.counts["archived"]) == (1, 2)
    assert await live(ada) == set()


async def test_until_it_is_switched_on_a_run_is_a_dry_run_that_says_what_would_go(
    ada: MemoryClient, clean: Clean
) -> None:
    await say(ada, "Nice weather.")

    off = await clean(100, enabled=False)

    assert (off.dry_run, off.counts["archived"]) == (True, 1)
    (why,) = off.problems
    assert "cleanup is off" in why
    assert "policy set cleanup.enabled true" in why
    assert await live(ada) == {"Nice weather."}
    assert (await clean(100)).counts == off.counts


async def test_what_a_backfilled_cleanup_archives_can_be_restored_for_30_days_from_now(
    ada: MemoryClient, clean: Clean, learn_at_message_time: Callable[[], None], today: float
) -> None:
    now = datetime.now(UTC)
    await say(ada, "Nice weather.", after=today - 400)
    learn_at_message_time()

    assert (await clean(today - 60)).counts["archived"] == 1
    ((archived,), _) = await ada.entries.list_archived()

    assert archived.mark.archived_at >= now
    assert "deleted" not in (await clean(today + 29.9, delete_archived=True)).counts
    assert (await clean(today + 30.1, delete_archived=True)).counts["deleted"] == 1
