"""Changes of predicates, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.client.predicates import PredicateClient
from mnestic.starter.settings import Settings

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SINGLE = Predicate(name="likes", cardinality="single", category="preferences")


def claim(number: int, value: str, subject: str = "Mara") -> Claim:
    return Claim(
        id=f"{number}/{value}/{subject}",
        subject=subject,
        predicate="likes",
        object=value,
        said_at=NOON + timedelta(days=number),
        source=ClaimSource(extractor="test"),
    )


async def active(begin: Begin, agent: str = "ada") -> list[Fact]:
    async with begin(agent=agent, write=False) as transaction:
        found, _ = await transaction.facts.list_facts(predicate="likes", limit=1000)
    return list(found)


async def test_a_change_that_was_stopped_halfway_goes_on_when_it_is_asked_again(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    for agent in ("ada", "eve"):
        async with begin(agent=agent) as transaction:
            said = [claim(n, f"thing {n}", f"P{who}") for n in range(2) for who in range(5)]
            await transaction.facts.claim(said)
    async with begin(agent=EVERY_AGENT) as transaction:
        await transaction.facts.set_predicate(SINGLE)
    async with begin() as transaction:
        first = await transaction.facts.settle("likes", limit=2)
    halfway = await active(begin)

    _, settled = await PredicateClient(memory, tenant_id=settings.tenant_id).set(
        "likes", cardinality="single"
    )

    assert len(first) == 4
    assert len(halfway) == 8
    assert settled == 16
    for agent in ("ada", "eve"):
        facts = await active(begin, agent)
        assert [(fact.object, fact.cardinality) for fact in facts] == [("thing 1", "single")] * 5
    async with begin(agent=EVERY_AGENT, write=False) as transaction:
        assert await transaction.facts.list_unsettled("likes") == ()


async def test_claims_that_come_during_a_change_are_by_the_new_rule(
    begin: Begin, memory: Memory, settings: Settings
) -> None:
    client = PredicateClient(memory, tenant_id=settings.tenant_id)

    async def say(number: int) -> None:
        async with begin() as transaction:
            await transaction.facts.claim(
                [claim(number, f"thing {number}", f"P{who}") for who in range(6)]
            )

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(say(number) for number in range(4)),
            client.set("likes", cardinality="single"),
            *(say(number) for number in range(4, 8)),
        )

    facts = await active(begin)
    assert [(fact.object, fact.cardinality) for fact in facts] == [("thing 7", "single")] * 6


async def test_a_change_is_in_the_audit_log(
    memory: Memory, settings: Settings, begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    async with begin() as transaction:
        await transaction.facts.claim([claim(1, "tea")])

    await PredicateClient(memory, tenant_id=settings.tenant_id).set("likes", category="work")

    assert ("predicate.put", "likes") in trail()
    assert ("predicate.settle", "likes") in trail()


async def test_another_tenant_keeps_its_own_predicates(begin: Begin) -> None:
    async with begin(agent=EVERY_AGENT) as transaction:
        await transaction.facts.set_predicate(SINGLE)

    async with begin(tenant="other", write=False) as transaction:
        assert await transaction.facts.list_predicates() == ()
        likes = (await transaction.facts.get_predicates({"likes"}))["likes"]
    assert likes.cardinality == "multi"
