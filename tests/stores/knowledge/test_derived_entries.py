"""Derived entries in the store: whatever is done, they are the active facts that no message states, and the episodes."""

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.forgetting.ports import ScannedRow
from mnestic.memory.forgetting.redaction import RowRedaction
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.claims import Claim, ClaimKind, ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.predicate_sentences import sentence_of
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory, Transaction
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.queries import read_query
from tests.stores.plan_samples import statements_while
from tests.stores.search_samples import resolve

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLACES = 3
Begin = Callable[..., AbstractAsyncContextManager[Transaction]]


class Step(NamedTuple):
    """What is done next: by one of three messages, objects or episodes."""

    what: str
    number: int
    predicate: str = "lives_in"
    kind: ClaimKind = "affirmed"
    is_of_message: bool = False


STEPS = st.lists(
    st.builds(
        Step,
        what=st.sampled_from(
            [*("receive", "claim", "claim", "claim"), *("remove", "forget", "append", "redact")]
        ),
        number=st.integers(0, PLACES - 1),
        predicate=st.sampled_from(["lives_in", "likes"]),
        kind=st.sampled_from(
            [
                *("affirmed", "affirmed", "corrected"),
                *("ended", "retracted", "reactivated", "deleted"),
            ]
        ),
        is_of_message=st.booleans(),
    ),
    min_size=3,
    max_size=12,
)


def said(number: int) -> Resource:
    return Resource(
        session_id="s",
        source_id=f"m{number}",
        channel="c",
        speaker="Kim",
        content=f"It is place {number}.",
        at=NOON + timedelta(minutes=number),
    )


def claim(step: Step, order: int) -> Claim:
    """A claim of one of the messages, or said by hand after all of them."""
    source = ClaimSource(extractor="person")
    at = NOON + timedelta(hours=1, minutes=order)
    if step.is_of_message:
        source = ClaimSource(extractor="test", session_id="s", source_id=f"m{step.number}")
        at = said(step.number).at
    return Claim(
        id=f"c{order}",
        kind=step.kind,
        subject="Kim",
        predicate=step.predicate,
        object=f"place {step.number}",
        said_at=at,
        source=source,
    )


class World:
    """An agent of its own, and what was done to it."""

    def __init__(self, memory: Memory, tenant_id: str) -> None:
        self._owner = {"tenant_id": tenant_id, "agent_id": uuid.uuid4().hex}
        self.begin = partial(memory.transaction, **self._owner, actor="test", write=True)
        self._claims: list[str] = []

    async def do(self, step: Step, order: int) -> None:
        async with self.begin() as transaction:
            await getattr(self, f"_{step.what}")(transaction, step, order)

    async def _receive(self, transaction: Transaction, step: Step, _: int) -> None:
        await receive(transaction, [said(step.number)], owner=self._owner["agent_id"])

    async def _claim(self, transaction: Transaction, step: Step, order: int) -> None:
        self._claims.append(f"c{order}")
        await transaction.facts.claim([claim(step, order)])

    async def _remove(self, transaction: Transaction, step: Step, _: int) -> None:
        entries, _cursor = await transaction.entries.list_entries(EntryQuery())
        await remove_entries(
            transaction, [one.id for one in entries if one.source_id == f"m{step.number}"]
        )

    async def _forget(self, transaction: Transaction, step: Step, order: int) -> None:
        forgetting = f"{self._owner['agent_id']}/{order}"
        await transaction.forgetting.begin(forgetting, "place", entries=())
        gone = self._claims[step.number :: PLACES]
        await transaction.facts.forget(gone, forgetting_id=forgetting)

    def _episode(self, number: int) -> str:
        return f"{self._owner['agent_id']}/e{number}"

    async def _append(self, transaction: Transaction, step: Step, order: int) -> None:
        await transaction.episodes.append(
            Episode(
                id=f"{self._episode(step.number)}/{order}",
                agent_id=self._owner["agent_id"],
                summary=f"Kim was at place {step.number}.",
                created_at=NOON,
            )
        )

    async def _redact(self, transaction: Transaction, step: Step, order: int) -> None:
        for episode in (await transaction.episodes.list_by_agent())[0]:
            if episode.id.startswith(self._episode(step.number)):
                left = {"summary": "" if order % 2 else "Kim was somewhere."}
                row = ScannedRow(table="episode", key=(episode.id,), columns={})
                await transaction.forgetting.redaction("none", row, RowRedaction(values=left))

    async def check(self) -> None:
        """Compares the derived entries with what they should be, worked out from what there is."""
        async with self.begin() as transaction:
            now = await transaction.now()
            messages, _ = await transaction.entries.list_entries(EntryQuery(), limit=100)
            places = {(one.session_id, one.source_id) for one in messages}
            wanted = {}
            for fact in (await transaction.facts.list_facts())[0]:
                claims = await transaction.facts.list_claims(fact)
                stating = {
                    (one.source.session_id, one.source.source_id)
                    for one in claims
                    if one.kind in {"affirmed", "corrected"}
                }
                if not stating & places:
                    wanted[fact.id] = ("fact", sentence_of(fact, now=now))
            for episode in (await transaction.episodes.list_by_agent(limit=100))[0]:
                if episode.summary:
                    wanted[episode.id] = ("episode", episode.summary)
            query = EntryQuery(kinds=("fact", "episode"), expired=True)
            derived, _ = await transaction.entries.list_entries(query, limit=100)
            counted = (await resolve(transaction, "x")).entries
            bare = await transaction.entries.list_unembedded("wordllama-256", limit=100)

        assert {one.id: (one.kind, one.content) for one in derived} == wanted
        assert counted == len(messages) + len(derived)
        assert len(bare) == counted  # without an embedder all wait for their vectors


@hypothesis_settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
async def test_they_are_the_facts_that_no_message_states_and_the_episodes(
    memory: Memory, settings: Settings, steps: list[Step]
) -> None:
    world = World(memory, settings.tenant_id)

    for order, step in enumerate(steps):
        await world.do(step, order)
        await world.check()


async def test_a_message_and_its_correction_at_once_leave_what_is_so(
    memory: Memory, settings: Settings
) -> None:
    """Whoever comes second sees what the first has written: a removed message, and a fact that ended."""
    for _ in range(10):
        world = World(memory, settings.tenant_id)
        await world.do(Step("receive", 0), 0)
        await world.do(Step("claim", 0, is_of_message=True), 1)

        await asyncio.gather(
            world.do(Step("remove", 0), 2),
            world.do(Step("claim", 1), 3),
            world.do(Step("claim", 2, "likes"), 4),
        )

        await world.check()


async def test_a_predicate_that_is_changed_takes_the_entries_of_its_facts_along(
    memory: Memory, settings: Settings
) -> None:
    world = World(memory, settings.tenant_id)
    for order in range(PLACES):
        await world.do(Step("claim", order, "feeds"), order)
    async with world.begin() as transaction:
        before, _ = await transaction.entries.list_entries(EntryQuery(kinds=("fact",)))
        one = Predicate(name="feeds", cardinality="single", category="events")
        await transaction.facts.set_predicate(one)
    async with world.begin() as transaction:
        await transaction.facts.settle("feeds")

    await world.check()
    async with world.begin() as transaction:
        (left,), _ = await transaction.entries.list_entries(EntryQuery(kinds=("fact",)))
    assert len(before) == PLACES
    assert (left.content, left.tags) == ("Kim feeds place 2.", ("events",))


@pytest.mark.parametrize("is_learned", [False, True])
async def test_a_message_costs_no_statement_for_what_is_derived(
    memory: PostgresMemory, settings: Settings, monkeypatch: pytest.MonkeyPatch, is_learned: bool
) -> None:
    world = World(memory, settings.tenant_id)
    if is_learned:
        await world.do(Step("claim", 0, is_of_message=True), 0)

    async def add() -> None:
        await world.do(Step("receive", 0), 1)

    statements: list[Any] = await statements_while(monkeypatch, add())

    derived = [text for text, _ in statements if text == read_query("find_derived_entries").text]
    assert len(derived) == is_learned
