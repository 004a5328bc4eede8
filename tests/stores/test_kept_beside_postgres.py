"""What a process tells of what it keeps, beside what Postgres tells: where entries are, and what answers."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.dates import Period
from mnestic.memory.entries import Entry
from mnestic.memory.knowledge_ports import EntryStore
from mnestic.memory.ports import Transaction
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.known_facts import KnownFacts
from mnestic.stores.postgres.known_sessions import KnownSessions, spoke_not
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.search import PostgresSearchStore
from tests.stores.conftest import Begin
from tests.stores.entry_samples import NOON, entry
from tests.stores.kept_samples import read_ahead
from tests.stores.search_samples import search

WORDS = (
    *("Mara", "maral", "O'Mara", "mara's", "Tom", "Tom Hale", "hale", "Ana"),
    *("Weiß", "WEISS", "the doctor", "boat", "tea", "and", ","),
)
NAMES = ({"mara"}, {"tom"}, {"tom hale"}, {"mara", "ana"}, {"ana", "tom hale"}, {"élodie"})
STRANGE = ("Weiß", "İpek", "The Doctor")
FOLDED = ({"weiss"}, {"doctor"}, {"i\u0307pek", "mara"})  # otherwise than SQL folds them


async def all_kept(
    begin: Begin, engine: AsyncEngine, settings: Settings
) -> tuple[Reading, list[int], datetime]:
    """A reading of an agent of which all is kept, the numbers of its entries, and the time."""
    kept, owner = Kept(max_bytes=10**8), (settings.tenant_id, "ada")
    async with begin(write=False) as transaction:
        known = await transaction.search.recognise((), (), model="")
    kept.read_at(owner, known.knowledge)
    await read_ahead(ReadingAhead(engine, kept), owner)
    numbers = [one.number for one in kept._lines]
    return kept.reading(owner, known.knowledge), numbers, known.now


@pytest.mark.parametrize("seed", range(3))
async def test_it_is_as_postgres_tells_it(
    begin: Begin, reading_engine: AsyncEngine, settings: Settings, seed: int
) -> None:
    chance = random.Random(seed)
    speakers = ("Mara", "Tom", "Tom Hale", "Ana", "MARA", "Élodie", "Bo", "Bo", "Bo", *STRANGE)
    said = [
        entry(
            f"e{number}",
            " ".join(chance.choices(WORDS, k=chance.randrange(1, 4))),
            session_id=f"s{number // 3}" if number % 7 else None,
            source_id=f"m{number}",
            speaker=chance.choice(speakers),
            at=NOON + timedelta(minutes=number),
        )
        for number in range(90)
    ]
    async with begin() as transaction:
        await transaction.entries.add(said)
    reading, numbers, _ = await all_kept(begin, reading_engine, settings)
    assert len(numbers) == len(said)

    for names in map(frozenset, (*NAMES, *FOLDED)):
        found = reading.apart(numbers, names)
        assert {number for number, is_apart in found.items() if is_apart} == await told(
            begin, numbers, names
        )
        assert found.keys() == {*numbers}


class Writer:
    """Adds, changes and removes entries of one agent, whichever comes."""

    names = tuple(f"e{number}" for number in range(60))

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._held: set[str] = set()

    def some(self, names: Sequence[str]) -> list[Entry]:
        """Entries, some of which are of one time, or related to others that need not be there."""
        chance = self.chance
        return [
            entry(
                name,
                chance.choice(("Tea?", "The tea is cold.")),
                session_id=chance.choice((None, "a", "b", "c", "d")),
                at=NOON + timedelta(minutes=chance.randrange(400)),
                entry_type=chance.choice(("interaction", "interaction", "insight")),
                related=tuple(chance.sample(self.names, chance.choice((0, 0, 1, 3)))),
            )
            for name in names
        ]

    async def write(self, entries: EntryStore, what: str) -> None:
        held = sorted(self._held)
        if what == "add":
            added = self.chance.sample(sorted({*self.names} - self._held), 2 if held else 40)
            await entries.add(self.some(added))
            self._held.update(added)
        elif what == "change":
            await entries.change(self.some(self.chance.sample(held, 2)))
        else:
            removed = self.chance.sample(held, 2)
            await entries.remove(removed)
            self._held.difference_update(removed)


@pytest.mark.parametrize("seed", range(3))
async def test_ties_are_as_postgres_tells_them_whatever_is_written(
    memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings, seed: int
) -> None:
    writer, owner = Writer(seed), (settings.tenant_id, "ada")

    def begin(by: PostgresMemory, *, write: bool) -> AbstractAsyncContextManager[Transaction]:
        return by.transaction(tenant_id=owner[0], agent_id=owner[1], actor="test", write=write)

    async def ties(by: PostgresMemory) -> dict[int, list[tuple[int, str]]]:
        """What is tied to all entries, as a process tells it once it has read what it may read ahead."""
        async with begin(by, write=False) as transaction:
            known = await transaction.search.recognise((), (), model="")
        if by._ahead._working is not None:
            await asyncio.wait_for(by._ahead._working, 30)
        async with begin(by, write=False) as transaction:
            asked = search(knowledge=known.knowledge)
            tied = await transaction.search.list_ties(numbers, asked)
        return {number: sorted(told) for number, told in tied.ties.items()}

    async with begin(memory, write=True) as transaction:
        await writer.write(transaction.entries, "add")
    async with begin(memory, write=False) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)
    (places,), found = memory._kept._places, 0
    first = min(places._places)
    numbers = range(first, first + 200)
    assert await ties(memory) == await ties(forgetful) != {}
    for _ in range(12):
        async with begin(memory, write=True) as transaction:
            what = writer.chance.choice(("add", "change", "remove"))
            await writer.write(transaction.entries, what)
        assert await ties(memory) == await ties(forgetful)
        assert not places.unseen
        found += len(places.ties(numbers))

    assert [*memory._kept._places] == [places]  # all the time
    assert found > 100


async def told(begin: Begin, numbers: Sequence[int], names: frozenset[str]) -> set[int]:
    """Those of which Postgres tells that nobody of the names was there."""
    async with begin(write=False) as transaction:
        unit = cast("PostgresSearchStore", transaction.search)._unit
        (rows,) = await unit.rows_of(KnownSessions(unit).apart(numbers, search(names=names)))
    return spoke_not(rows, names)


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_over_is_left_out_alike_whatever_a_process_keeps(
    begin: Begin, memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings, seed: int
) -> None:
    chance, owner = random.Random(seed), (settings.tenant_id, "ada")
    words = ("ferry", "harbour", "boat", "tea", "moved", "now", "no longer", "blue")
    said, claims = [], []
    for number in range(140):
        who, at = chance.choice(("Mara", "Bo", "Tom")), NOON - timedelta(days=140 - number)
        text = f"{who} lives by the ferry {' '.join(chance.choices(words, k=4))} {number}"
        place = {"session_id": f"s{number // 5}", "source_id": f"m{number}"}
        said.append(entry(f"e{number}", text, **place, speaker=who, subjects=(who,), at=at))
        if chance.random() < 0.7:
            source = ClaimSource(extractor="test", **place)
            told = {"subject": who, "predicate": "lives_in", "object": f"place {number}"}
            claims.append(Claim(id=f"c{number}", **told, said_at=at, source=source))
    async with begin() as transaction:
        await transaction.entries.add(said)
        await transaction.facts.claim(claims)
    here, there = (
        MemoryClient(one, tenant_id=owner[0], agent_id="ada") for one in (memory, forgetful)
    )
    for question in ("Who lives by the harbour?", "boat tea ferry"):
        await here.retrieve(question, mode="text")
    await read_ahead(memory._ahead, owner)
    (places,) = memory._kept._places

    assert places.is_whole
    for question in ("Where does Mara live now?", "What did Bo say about the ferry?", "blue boat"):
        first, second = [
            (await one.retrieve(question, mode="text", min_score=0.001, limit=30)).found
            for one in (here, there)
        ]
        assert [(one.entry.id, one.score) for one in first] == [
            (one.entry.id, one.score) for one in second
        ]
        assert first


async def test_answers_are_those_of_who_keeps_nothing_whatever_is_added(
    begin: Begin, memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings
) -> None:
    owner = (settings.tenant_id, "ada")
    about = ("The ferry is late.", "The ferry is blue.", "Tea?", "The ferry smells of tar.")
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry(
                    f"e{number}",
                    f"{about[number % 4]} ({number})",
                    session_id=f"s{number // 5}",
                    source_id=f"m{number}",
                    speaker=(who := "Mara" if number % 31 == 0 else "Bo"),
                    subjects=(who,),
                    at=NOON + timedelta(minutes=number),
                )
                for number in range(120)
            ]
        )
    here, there = (
        MemoryClient(one, tenant_id=owner[0], agent_id="ada") for one in (memory, forgetful)
    )

    async def told(least: float) -> list[str]:
        """What both tell; of another threshold each time, so that no answer is kept."""
        found = [
            await one.retrieve(
                "What did Mara say about the ferry?", mode="text", min_score=least, limit=50
            )
            for one in (here, there)
        ]
        first, second = ([one.entry.id for one in each.found] for each in found)
        assert first == second
        return first

    before = await told(0.001)
    assert await told(0.002) == before  # who is asked again is read ahead
    assert memory._ahead._working is not None
    await memory._ahead._working
    (places,) = memory._kept._places
    assert places.is_whole
    assert await told(0.003) == before
    assert places._told  # from there it was told
    async with forgetful.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.entries.add(
            [entry("new", "Mara, the ferry!", session_id="s1", at=NOON, speaker="Bo")]
        )

    after = await told(0.004)
    assert {"e5", "e7", "e8", "e9"}.isdisjoint(before)
    assert not {"e5", "e7", "e8", "e9"}.isdisjoint(after)


@pytest.mark.parametrize("seed", range(3))
async def test_what_was_claimed_holds_as_postgres_tells_it(
    begin: Begin, reading_engine: AsyncEngine, settings: Settings, seed: int
) -> None:
    chance, now = random.Random(seed), datetime.now(UTC)
    said, claims = [], []
    for number in range(120):
        source = {"session_id": f"s{number // 5}", "source_id": f"m{number}"}
        said.append(entry(f"e{number}", "Hm.", at=now - timedelta(days=130 - number), **source))
        for place in range(chance.choice((0, 1, 1, 2))):
            told: dict[str, Any] = {
                "subject": chance.choice(("Mara", "Bo")),
                "predicate": chance.choice(("lives_in", "likes", "works_at")),
                "object": chance.choice(("Ghent", "tea", "Acme")),
                "kind": chance.choice(("affirmed", "affirmed", "corrected", "ended", "retracted")),
                "valid_from": chance.choice((None, None, now - timedelta(chance.randrange(130)))),
                "valid_to": chance.choice((None, None, now - timedelta(1), now + timedelta(1))),
            }
            claims.append(
                Claim(
                    id=f"c{number}.{place}",
                    **told,
                    said_at=said[-1].at,
                    source=ClaimSource(extractor="test", **source),
                )
            )
    async with begin() as transaction:
        await transaction.entries.add(said)
        await transaction.facts.claim(claims)
    reading, numbers, now = await all_kept(begin, reading_engine, settings)

    told_over = told_past = 0
    names, predicates = frozenset({"mara", "bo"}), ("lives_in", "likes", "works_at")
    for _ in range(30):
        start = now - timedelta(days=chance.randrange(150))
        asked = search(
            believed=names,
            predicates=dict.fromkeys(chance.sample(predicates, 2), 0.5),
            respects=frozenset(chance.sample(predicates, chance.randrange(3))),
            period=chance.choice((None, Period(start, start + timedelta(days=9), "week"))),
            now=now,
        )
        async with begin(write=False) as transaction:
            store = cast("PostgresSearchStore", transaction.search)
            over, said = await store._unit.rows_of(
                store._over(numbers, asked)[1], KnownFacts(store._unit).said(asked, limit=50)
            )
        found = reading.over(numbers, asked.respects, held=asked.held, now=now.timestamp())
        assert found.keys() == {*numbers}
        assert {one for one, is_over in found.items() if is_over} == {one.number for one in over}
        assert reading.claims is not None
        holds = reading.claims.holding(asked.held, now=now.timestamp())
        assert reading.claims.said(names, asked.predicates, holds, limit=50) == [*map(tuple, said)]
        told_over += len(over)
        told_past += asked.held is not None and len(said)
    assert told_over > 30
    assert told_past > 30
