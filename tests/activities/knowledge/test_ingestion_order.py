"""What is believed does not depend on the order in which messages come, nor on how often."""

import uuid
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchmarks.messages import messages
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import english_steps, said

MOST = 12
SAID = yaml.safe_load(Path(__file__).with_name("ingestion_order.yaml").read_text("utf-8"))
FORMS, WORDS = SAID["forms"], SAID["words"]


@st.composite
def conversations(draw: st.DrawFn) -> list[Resource]:
    """Messages of two sessions that mean what they mean only after others; some are of one moment."""
    messages_said = []
    for number in range(draw(st.integers(3, MOST))):
        words = {name: draw(st.sampled_from(several)) for name, several in WORDS.items()}
        message = said(
            draw(st.integers(0, 20)),
            draw(st.sampled_from(FORMS)).format(**words),
            session_id=draw(st.sampled_from("aaab")),
            source_id=f"{draw(st.sampled_from('Mm'))}{number}",
            speaker=draw(st.sampled_from(("Mara", "Mara", "Jonas"))),
        )
        messages_said.append(message)
    return sorted(messages_said, key=lambda one: (one.at, one.source_id))


@st.composite
def tellings(draw: st.DrawFn) -> list[Resource]:
    """Messages in which people tell of themselves."""
    return list(messages(MOST, seed=draw(st.integers(0, 10_000)), telling=1))


@st.composite
def deliveries(
    draw: st.DrawFn, of: st.SearchStrategy[list[Resource]]
) -> tuple[list[Resource], list[list[Resource]]]:
    """Messages; and batches of them in any order, some again."""
    once = draw(of)
    again = draw(st.lists(st.sampled_from(once), max_size=6))
    order = draw(st.permutations([*once, *again]))
    cuts = sorted(draw(st.sets(st.integers(1, len(order) - 1), max_size=4)))
    return once, [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


async def learn(
    memory: Memory, settings: Settings, batches: list[list[Resource]]
) -> set[tuple[object, ...]]:
    """What a new agent believes once it has heard the batches."""
    agent_id = uuid.uuid4().hex
    client = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id=agent_id))
    steps = english_steps(memory, settings, agent_id=agent_id)
    for batch in batches:
        await client.ingest(batch)
        while any([(await steps.extract()).taken, (await steps.learn()).taken]):
            pass  # as the workflow does
    found, _ = await client.facts.list(statuses=("active", "archived"), limit=1000)
    assert (await client.messages.count()).waiting == 0
    return {_told(fact) for fact in found}


def _told(fact: Fact) -> tuple[object, ...]:
    believed = (fact.subject, fact.predicate, fact.object, fact.status, fact.end)
    return (*believed, fact.valid_from, fact.valid_to, fact.confidence, frozenset(fact.claims))


@pytest.mark.acceptance  # many conversations, each learned in several orders
@hypothesis_settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(told=deliveries(conversations() | tellings()))
async def test_any_order_of_delivery_gives_the_same_facts(
    memory: Memory, settings: Settings, told: tuple[list[Resource], list[list[Resource]]]
) -> None:
    once, batches = told

    in_order = await learn(memory, settings, [once])
    one_by_one = await learn(memory, settings, [[each] for each in once])

    assert one_by_one == in_order
    assert await learn(memory, settings, batches) == in_order
