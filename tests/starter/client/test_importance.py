"""The importance policy of a tenant from Python."""

import asyncio
from datetime import UTC, datetime, timedelta

from mnestic.memory.knowledge.entries import EntryKind, EntryQuery
from mnestic.memory.knowledge.importance import ImportancePolicy
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient

# Nothing but the type counts, and insights count more than anything else.
WEIGHTS = {"entry_type": 1, "recency": 0, "access": 0, "relations": 0, "richness": 0}
OLD = datetime.now(UTC) - timedelta(days=400)


async def importances(memory: MemoryClient, *kinds: EntryKind) -> dict[str, float]:
    entries, _ = await memory.entries.list(EntryQuery(kinds=kinds or ("message",)))
    return {entry.content: round(entry.importance, 4) for entry in entries}


async def test_entries_that_come_in_are_measured_by_the_policy_of_their_tenant(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await client.importance().change(**WEIGHTS, by_type={"insight": 0.97, "knowledge": 0.31})

    await ada.add("The kiln needs a new thermostat.", entry_type="insight", at=OLD)
    await ada.facts.add("kiln", "located_in", "the shed")

    assert await importances(ada, "message", "fact") == {
        "The kiln needs a new thermostat.": 0.97,
        "kiln is located in the shed.": 0.31,
    }


async def test_weights_that_are_changed_at_the_same_time_all_change(client: MnesticClient) -> None:
    await asyncio.gather(
        *(client.importance().change(**{name: 0.5}) for name in ("recency", "access", "relations"))
    )

    policy = await client.importance().get()
    assert (policy.recency, policy.access, policy.relations) == (0.5, 0.5, 0.5)


async def test_a_change_measures_what_all_agents_have_and_a_reset_takes_it_back(
    client: MnesticClient, ada: MemoryClient
) -> None:
    eve = client.memory("eve")
    for memory in (ada, eve):
        await memory.add("The kiln is cold.", entry_type="context", at=OLD)
    before = await importances(ada)

    policy, changed = await client.importance().change(**WEIGHTS, by_type={"context": 0.8})
    then = [await importances(memory) for memory in (ada, eve)]
    again = (await client.importance().change(**WEIGHTS))[1]
    default, _ = await client.importance().reset()

    assert (changed, again) == (2, 0)
    assert policy == ImportancePolicy(**WEIGHTS, by_type={"context": 0.8})
    assert then == [{"The kiln is cold.": 0.8}] * 2
    assert default == await client.importance().get() == ImportancePolicy()
    assert await importances(ada) == before
