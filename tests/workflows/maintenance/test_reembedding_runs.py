"""The monthly run in Temporal changes the model of embeddings, goes on where an attempt ended, and can be taken back."""

from collections.abc import Sequence

import pytest

from mnestic.activities.clients.token_vectors import NAME
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.models.messages import Embeddings
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import maintenance_activities, make_maintenance_worker
from mnestic.starter.settings import Settings
from tests.activities.maintenance.embedding_models import NarrowEmbedder

SAID = [f"Mara told us in week {week} why she repairs old clocks at night." for week in range(9)]


class Restarting(NarrowEmbedder):
    """A model whose third call fails, once."""

    batch = 2

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Sequence[str]] = []

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        self.calls.append(texts)
        if len(self.calls) == 3:
            raise ModelUnavailableError(model=self.name, why="it restarts")
        return await super().embed(texts)


async def test_a_run_goes_on_after_a_failed_attempt_and_is_taken_back(
    client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
) -> None:
    for text in SAID:
        await client.memory("ada").add(text)
    model = Restarting()
    activities = maintenance_activities(memory, admin_url=admin_url, embedders=Embedders(model))
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        dry = await (await client.maintenance.start("monthly", dry_run=True)).result()
        report = await (await client.maintenance.start("monthly", agent_id="ada")).result()
        switched, _ = await client.maintenance.list_embeddings()
        back = await client.maintenance.switch_embeddings_back("ada")
        refused = await (await client.maintenance.start("monthly", agent_id="ada")).result()

    embedded = [text for call in model.calls[:6] for text in call]
    assert dry.counts["reembedded"] == len(SAID)
    assert (report.agents, report.problems) == (1, ())
    assert report.counts == {"reembedded": len(SAID), "switched": 1}
    assert [one.active_model for one in switched] == ["narrow-128"]
    assert switched[0].vectors == {NAME: len(SAID), "narrow-128": len(SAID)}
    assert sorted(embedded) == sorted(
        [*SAID, *model.calls[2]]
    )  # what failed alone was asked for again
    assert (back.active_model, back.rejected_model) == (NAME, "narrow-128")
    assert "mnestic embeddings accept" in refused.problems[0]
    with pytest.raises(InvalidInputError, match="already"):
        await client.maintenance.switch_embeddings_back("ada")
