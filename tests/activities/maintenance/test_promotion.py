"""Promotion: facts that are used are believed more surely, and stay so when they are computed again."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

Run = Callable[..., Any]
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = datetime(2030, 3, 3, 12, tzinfo=UTC)


async def test_a_fact_gains_once_for_each_night_in_which_it_was_used(
    ada: MemoryClient, run: Run, count_accesses: Run
) -> None:
    (change,) = await ada.facts.add("Mara", "likes", "tea", confidence=0.6)
    await ada.facts.add("Mara", "likes", "jazz", confidence=0.6)
    await count_accesses(change.fact.id, times=3)

    first = await run()
    again = await run(LATER)
    await count_accesses(change.fact.id)
    third = await run(LATER.replace(hour=13))

    assert (first.counts["promoted"], third.counts["promoted"]) == (1, 1)
    assert "promoted" not in again.counts
    assert await _confidences(ada) == {"tea": 0.64, "jazz": 0.6}


async def test_the_message_of_a_fact_that_was_retrieved_counts_as_well(
    ada: MemoryClient, run: Run, count_accesses: Run, memory: Memory, settings: Settings
) -> None:
    entry = await ada.add("Mara likes tea.", source_id="1", at=MONDAY)
    await _claim(memory, settings, "tea", source_id="1")
    await count_accesses(entry.id)

    done = await run()

    assert done.counts["promoted"] == 1
    assert await _confidences(ada) == {"tea": 0.62}


async def test_what_use_has_added_stays_when_the_facts_are_computed_again(
    ada: MemoryClient, run: Run, count_accesses: Run, memory: Memory, settings: Settings
) -> None:
    (change,) = await ada.facts.add("Mara", "likes", "tea", confidence=0.6)
    await count_accesses(change.fact.id)
    await run()
    before = await _facts(ada)

    await _claim(memory, settings, "jazz", source_id="2")
    same = await _facts(ada)
    await _claim(memory, settings, "tea", source_id="3")
    surer = await _facts(ada)

    assert same["tea"] == before["tea"]
    assert same["tea"].promotion == 0.02
    assert surer["tea"].confidence == 0.86  # two claims of .6, and .02
    assert surer["tea"].used_at == before["tea"].used_at


async def test_no_use_makes_a_fact_certain(
    ada: MemoryClient, run: Run, count_accesses: Run, set_policy: Run
) -> None:
    (change,) = await ada.facts.add("Mara", "likes", "tea", confidence=0.9)
    await set_policy(promotion=0.3)
    await count_accesses(change.fact.id)

    await run()

    fact = (await _facts(ada))["tea"]
    assert (fact.confidence, fact.promotion) == (0.99, 0.09)


async def test_importance_of_what_was_retrieved_rises_and_has_a_limit(
    ada: MemoryClient, run: Run, count_accesses: Run
) -> None:
    often = await ada.add("The boiler hums.", source_id="1", at=MONDAY)
    most = await ada.add("The boiler rattles.", source_id="2", at=MONDAY)
    never = await ada.add("The boiler whines.", source_id="3", at=MONDAY)
    await count_accesses(often.id, times=10)
    await count_accesses(most.id, times=1000)

    await run()

    values = [(await ada.entries.get(one.id)).importance for one in (often, most, never)]
    assert values[0] - values[2] > 0.19
    assert abs(values[1] - values[0]) < 0.01


async def _facts(memory: MemoryClient) -> dict[str, Fact]:
    facts, _ = await memory.facts.list(subject="Mara")
    return {fact.object: fact for fact in facts}


async def _confidences(memory: MemoryClient) -> dict[str, float]:
    return {name: fact.confidence for name, fact in (await _facts(memory)).items()}


async def _claim(memory: Memory, settings: Settings, value: str, *, source_id: str) -> None:
    claim = Claim(
        id=f"{settings.tenant_id}-{source_id}",
        subject="Mara",
        predicate="likes",
        object=value,
        confidence=0.6 if value == "tea" else 0.5,
        said_at=MONDAY,
        source=ClaimSource(extractor="test", session_id="added", source_id=source_id),
    )
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.facts.claim([claim])
