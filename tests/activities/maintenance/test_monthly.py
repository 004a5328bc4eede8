"""The monthly maintenance of an agent mends full text search; `test_graph.py` has the graph."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from mnestic.activities.maintenance.batches import BATCH_SIZES
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.activities.learning_models import Execute
from tests.activities.maintenance.conftest import NOON

POSTINGS = "SELECT lexeme, audience, postings FROM mnestic.posting WHERE tenant_id = %s ORDER BY 1, first_number"


async def test_entries_that_full_text_search_lacks_words_of_are_entered_again(
    ada: MemoryClient, client: MnesticClient, run: Callable[..., Any], execute: Execute
) -> None:
    for content in ("Mara lives in Porto.", "Porto is old.", "Bert plays chess."):
        await ada.add(content)
    before = execute(POSTINGS)
    execute("DELETE FROM mnestic.posting WHERE tenant_id = %s AND lexeme = 'porto'")
    damaged = await client.maintenance.sample_index()

    dry = await run(kind="monthly", dry_run=True)
    mended = await run(kind="monthly", sizes=BATCH_SIZES._replace(renewed=1))
    again = await run(NOON + timedelta(days=31), kind="monthly")

    assert damaged.without_words == 2
    assert dry.counts == mended.counts == {"words_mended": 2}
    assert again.counts == {}
    assert (await client.maintenance.sample_index()).without_words == 0
    assert execute(POSTINGS) == before
