"""What a job is told of what is known."""

from collections.abc import Callable
from datetime import timedelta

from temporalio.testing import ActivityEnvironment

from mnestic.activities.knowledge.job_knowledge import (
    FactsInput,
    KnowledgeActivities,
    list_prompt_facts,
)
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Begin

DAY = timedelta(days=1)


async def test_a_job_is_told_what_is_so_now(
    ada: MemoryClient,
    memory: Memory,
    scope: Scope,
    operation: Callable[..., Operation],
    begin: Begin,
) -> None:
    async with begin() as transaction:
        now = await transaction.now()
    await ada.facts.add("Mara", "lives_in", "Ghent", valid_from=now - 9 * DAY)
    await ada.facts.add("Mara", "employer", "Tidal Atlas", valid_from=now - 9 * DAY)
    await ada.facts.add("Mara", "employer", "Acme", valid_from=now + 30 * DAY)
    (porto,) = await ada.facts.add("Jonas", "lives_in", "Porto", valid_to=now + DAY / 24)
    select = KnowledgeSelection(subjects=("Mara", "Jonas"))

    async with begin() as transaction:
        told = await list_prompt_facts(transaction, select)
    asked = FactsInput(scope=scope, operation=operation(1, "facts"), select=select)
    listed = await ActivityEnvironment().run(KnowledgeActivities(memory).list_facts, asked)

    objects = ["Tidal Atlas", "Ghent", "Porto"]
    assert [fact.object for fact in listed.facts] == objects
    assert all(name in fact.line for name, fact in zip(objects, told, strict=True))
    assert porto.fact.status == "active"


async def test_a_job_gets_no_fact_that_has_ended_as_planned(begin: Begin) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        said = Claim(
            id="c",
            subject="Jonas",
            predicate="lives_in",
            object="Porto",
            said_at=now - 9 * DAY,
            valid_to=now - timedelta(seconds=1),
            source=ClaimSource(extractor="test"),
        )
        (porto,) = await transaction.facts.claim([said])
        told = await list_prompt_facts(transaction, KnowledgeSelection(subjects=("Jonas",)))

    assert (porto.fact.status, told) == ("active", ())
