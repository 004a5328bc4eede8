"""What a process keeps of claims and facts: what is told of each, and how much memory that takes."""

import asyncio
import math
import sys
import tracemalloc
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.facts import Stretch
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.kept_claims import KeptClaims, Said
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.conftest import Begin
from tests.stores.entry_samples import NOON, entry
from tests.stores.kept_samples import fact, read_ahead

ANY = frozenset[str]()
QUESTION = "Where does Mara live?"


def test_what_ends_or_takes_back_something_claims_nothing_that_could_hold() -> None:
    kept = KeptClaims()
    kept.claim(
        [
            ("a", "1", [("mara", "lives_in", [1]), ("mara", "likes", None)]),
            ("a", "2", [("mara", "likes", None)]),
            ("a", "3", [("mara", "lives_in", [2]), ("bo", "likes", [3, 4])]),
            ("a", "4", [("mara", "lives_in", [])]),
        ]
    )
    kept.believe(
        [
            fact(1, "mara", "lives_in", until=9.0),
            fact(2, "mara", "lives_in", is_active=False),
            fact(3, "bo", "likes", until=1.0),
            fact(4, "bo", "likes"),
        ]
    )

    def over(now: float, *respects: str) -> set[str]:
        holds = kept.holding(None, now=now)
        return {one for one in "12345" if kept.is_over(("a", one), frozenset(respects), holds)}

    assert over(5.0) == {"4"}
    assert over(9.0) == {"1", "4"}
    assert over(5.0, "lives_in") == {"3", "4"}
    assert over(5.0, "works_at") == {"4"}
    assert kept.is_of_others(("a", "2"), {"bo"}, {"likes"})  # whatever it claims of it
    assert not kept.is_of_others(("a", "3"), {"bo"}, {"likes"})
    assert not kept.is_of_others(("a", "1"), {"bo"}, {"works_at"})


def test_what_is_believed_was_said_last_by_the_message_that_is_told_first() -> None:
    kept = KeptClaims()
    kept.believe(
        [
            fact(3, "mara", "likes", since=3.0, told_by=[("a", "3"), ("a", "1")]),
            fact(1, "mara", "likes", since=1.0, told_by=[("a", "1")]),
            fact(2, "bo", "likes", since=2.0, told_by=[("a", "2")]),
            fact(9, "bo", "lives_in", since=9.0, until=10.0, told_by=[("a", "9")]),
            fact(8, "bo", "lives_in", since=8.0, is_active=False, told_by=[("a", "8")]),
        ]
    )

    def said(*predicates: str, now: float = 5.0, limit: int = 9) -> list[tuple[str, str | None]]:
        holds = kept.holding(None, now=now)
        told = kept.said(["mara", "bo"], predicates, holds, limit=limit)
        return [(one.id, one.source_id) for one in told]

    assert said("likes") == [("f3", "3"), ("f3", "1"), ("f2", "2"), ("f1", "1")]
    assert said("likes", limit=2) == [("f3", "3"), ("f3", "1")]
    assert said("likes", "lives_in", limit=1) == [("f9", "9")]
    assert said("lives_in", now=10.0) == []
    assert kept.said(["bo"], ["lives_in"], kept.holding(None, now=9.0), limit=1) == [
        Said("bo", "lives_in", "multi", "f9", "a", "9")
    ]


@pytest.mark.parametrize(
    ("first", "last", "asked", "held"),
    [
        (12, 18, (), {1, 5}),  # somebody was there from 10 on, and liked tea
        (12, 18, ("lives_in",), {1, 5}),
        (25, 35, (), {1, 2, 5}),  # moved in it; the last one is not believed, or begins later
        (45, 48, ("lives_in",), {2, 5}),
        (1, 5, ("lives_in",), {1}),  # the first that is known is taken to have been so before
        (1, 5, ("likes",), {5}),
        (1, 5, ("owns",), set()),  # somebody said since when
        (61, 62, ("lives_in",), {3, 5, 6}),
    ],
)
def test_what_held_in_a_time_that_is_past(
    first: float, last: float, asked: Collection[str], held: set[int]
) -> None:
    kept = KeptClaims()
    facts = [
        fact(3, "mara", "lives_in", since=50.0, cardinality="single"),
        fact(2, "mara", "lives_in", since=30.0, until=50.0, cardinality="single", is_active=False),
        fact(1, "mara", "lives_in", since=10.0, until=30.0, cardinality="single", is_active=False),
        fact(4, "mara", "lives_in", since=5.0, until=5.0, cardinality="single", is_active=False),
        fact(5, "mara", "likes", since=11.0),
        fact(6, "mara", "owns", since=60.0, is_dated=True),
    ]
    kept.believe(facts)
    kept.claim([("a", str(number), [("mara", "lives_in", [number])]) for number in range(1, 7)])
    moments = (datetime.fromtimestamp(one, UTC) for one in (first, last))
    holds = kept.holding(Stretch(*moments, frozenset(asked)), now=0.0)

    assert {one for one in range(1, 7) if not kept.is_over(("a", str(one)), ANY, holds)} == held


def test_it_tells_how_much_memory_it_takes() -> None:
    tracemalloc.start()
    kept = KeptClaims()
    kept.claim(
        (f"session {number}", f"source {number}", [(f"name {number}", "likes", [number])] * 2)
        for number in range(5000)
    )
    kept.believe(
        fact(
            number,
            f"name {number}",
            "likes",
            since=float(number),
            until=math.inf,
            told_by=[("s", f"source {number}")],
        )
        for number in range(5000)
    )
    kept.name(f"name {number}" for number in range(5000))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sys.getsizeof(kept)

    assert 0.7 * taken < kept.bytes < 1.5 * taken


async def test_what_was_claimed_is_read_again_once_facts_have_changed(
    begin: Begin,
    memory: PostgresMemory,
    forgetful: PostgresMemory,
    settings: Settings,
) -> None:
    owner = (settings.tenant_id, "ada")
    here, there = (
        MemoryClient(one, tenant_id=owner[0], agent_id="ada") for one in (memory, forgetful)
    )

    async def tell(number: int, town: str, *, is_kept: bool = True) -> None:
        source = {"session_id": f"s{number}", "source_id": "m"}
        at = NOON + timedelta(days=number)
        told = {"subject": "Mara", "predicate": "lives_in", "object": town, "said_at": at}
        claim = Claim(id=f"c{number}", **told, source=ClaimSource(extractor="test", **source))
        said = entry(
            f"e{number}",
            f"Mara lives in {town}.",
            **source,
            speaker="Mara",
            subjects=("Mara",),
            at=at,
        )
        async with begin() as transaction:
            await transaction.entries.add([said] if is_kept else [])
            await transaction.facts.claim([claim])

    async def found() -> list[str]:
        """What both tell, one of whom keeps what it reads."""
        first, second = [
            [told.entry.content for told in (await one.retrieve(QUESTION, mode="text")).found]
            for one in (here, there)
        ]
        assert first == second
        return first

    async with begin() as transaction:
        await transaction.entries.add([entry("e0", "Tea?", session_id="s0")])
    await tell(1, "Ghent")
    assert await found() == ["Mara lives in Ghent."]
    await read_ahead(memory._ahead, owner)
    (places,) = memory._kept._places
    assert places.claims is not None

    # What no question brings is only there again if all entries are read again.
    generation, lines = memory._kept._states[owner].generation, memory._kept._lines
    tea = min(line.number for line in lines)
    lines.drop(generation, tea)

    # After each change it is read later: who changes facts again and again would read them again and again.
    later = ((1, 2, True, ["Mara lives in Deinze."]), (2, 3, False, []))
    for times, number, is_kept, known in later:
        await tell(number, "Deinze" if is_kept else "Bruges", is_kept=is_kept)
        for _ in range(times):
            assert places.claims is None
            memory._kept.answers.drop_all(owner)
            assert await found() == known
        assert memory._ahead._working is not None
        await asyncio.wait_for(memory._ahead._working, 30)
        assert places.claims is not None
        assert await found() == known
        assert not lines.has(generation, tea)

    async with begin() as transaction:
        await transaction.entries.add([entry("e4", "Tea.", session_id="s4")])
    assert places.claims is not None
