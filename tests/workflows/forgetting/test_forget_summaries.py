"""Forgetting takes what a night has stored of a topic: summaries of categories and by time, and entries that were merged."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.batches import BATCH_SIZES, BatchRun
from mnestic.activities.maintenance.nightly import maintain_nightly
from mnestic.activities.maintenance.period_summaries import PeriodSummaryBuilder
from mnestic.activities.maintenance.weekly import maintain_weekly
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.maintenance.policies import NightlyPolicy, WeeklyPolicy
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import forget, learn, said

pytestmark = pytest.mark.acceptance  # it forgets a whole memory and scans every table


@pytest.mark.usefixtures("worker")
async def test_nothing_of_a_topic_is_left_in_summaries_and_merged_entries(
    client: MnesticClient, ada: MemoryClient, memory: Memory, settings: Settings, scan: Scan
) -> None:
    await learn(client, said("1", "I like Falcon cider."), said("2", "I like falcon cider!"))
    await ada.facts.add("Mara", "likes", "Falcon beer")
    await ada.facts.add("Mara", "likes", "tea")
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="night", write=True
    ) as transaction:
        now = datetime.now(UTC) + timedelta(minutes=1)
        part = await maintain_nightly(
            transaction,
            BatchRun(now, now, "night", BATCH_SIZES),
            policy=NightlyPolicy(),
            count_tokens=count_tokens,
        )
    assert (part.counts["merged"], part.counts["categories_rebuilt"]) == (1, 1)
    assert {"category", "archived_entry"} <= scan("falcon").keys()

    await forget(ada, "Falcon")

    assert scan("falcon") == {}
    (preferences,) = await ada.contexts.list_categories()
    assert preferences.summary == "Mara likes tea."


@pytest.mark.usefixtures("worker")
async def test_a_forgotten_word_is_in_no_summary_by_time_and_in_no_export(
    client: MnesticClient, ada: MemoryClient, memory: Memory, settings: Settings, scan: Scan
) -> None:
    await learn(client, said("1", "I like Falcon cider."), said("2", "The boiler hums at night."))
    builder = PeriodSummaryBuilder(
        lambda *, write: memory.transaction(
            tenant_id=settings.tenant_id, agent_id="ada", actor="night", write=write
        ),
        at=datetime.now(UTC),
        quoting=LocalSummariser(),
        count_tokens=count_tokens,
    )
    assert await builder.build(above=0) == {"summaries_built": 4}
    assert "summary" in scan("falcon")

    await forget(ada, "Falcon")

    assert scan("falcon") == {}
    exported = [line.model_dump_json() async for line in ada.export()]
    assert "falcon" not in "".join(exported).lower()
    await builder.build(above=0)
    (life, *_), _ = await ada.contexts.list_summaries()
    assert life.text == "Mara: The boiler hums at night."


@pytest.mark.usefixtures("worker")
async def test_nothing_of_a_topic_is_left_in_compressed_entries(
    client: MnesticClient, ada: MemoryClient, memory: Memory, settings: Settings, scan: Scan
) -> None:
    garden = (
        "The garden needs water in the evening.",
        "In the evening the garden needs to be watered.",
    )
    falcons = "The garden needs water in the evening. A falcon nests there."
    await learn(client, *(said(str(number), one) for number, one in enumerate((*garden, falcons))))
    policy = WeeklyPolicy(compress_similarity=0.5)
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="week", write=True
    ) as transaction:
        now = datetime.now(UTC) + timedelta(days=365)
        part = await maintain_weekly(
            transaction, BatchRun(now, now, "week", BATCH_SIZES), policy=policy, compressed=9
        )
    assert part.counts["compressed"] == 3
    assert {"entry", "archived_entry"} <= scan("falcon").keys()

    await forget(ada, "falcon")

    assert scan("falcon") == {}
    (compressed,), _ = await ada.entries.list(EntryQuery(kinds=("compressed",)))
    assert set(compressed.content.splitlines()) == set(garden)
