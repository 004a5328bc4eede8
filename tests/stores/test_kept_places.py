"""Places that a process keeps: who was there, and what is tied to what, is as Postgres tells it, or not known."""

import asyncio
import random
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.entries import Entry
from mnestic.memory.knowledge_ports import EntryStore
from mnestic.memory.ports import Transaction
from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.candidates import EntryLine, patterns_of
from mnestic.stores.postgres.kept import Kept, Reading
from mnestic.stores.postgres.kept_places import LONG, KeptPlaces, Place
from mnestic.stores.postgres.known_sessions import KnownSessions
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.search import PostgresSearchStore
from mnestic.stores.postgres.unit import Change
from tests.stores.conftest import Begin
from tests.stores.entry_samples import NOON, entry
from tests.stores.search_samples import search
from tests.stores.test_kept import line

MARA = frozenset({"mara"})
WORDS = (
    "Mara",
    "maral",
    "O'Mara",
    "mara's",
    "Tom",
    "Tom Hale",
    "hale",
    "Ana",
    "boat",
    "tea",
    "and",
    ",",
)
NAMES = ({"mara"}, {"tom"}, {"tom hale"}, {"mara", "ana"}, {"ana", "tom hale"}, {"élodie"})


@pytest.fixture
def texts() -> dict[int, EntryLine]:
    """Of three entries in two sessions, the first of which mentions Mara."""
    said = {1: "Mara rows.", 2: "The tea is cold.", 3: "The tea is hot."}
    return {number: line(number, content) for number, content in said.items()}


def place(number: int, session: str | None = None, **fields: Any) -> Place:
    """The place of a turn, each a second after the one before it."""
    at: dict[str, Any] = {"at": float(number), "is_turn": True, "related": (), "length": 0}
    return Place(number=number, entry_id=f"e{number}", session_id=session, **(at | fields))


@pytest.fixture
def kept(texts: dict[int, EntryLine]) -> KeptPlaces:
    places = KeptPlaces()
    for number in texts:
        places.place(place(number, "b" if number == 3 else "a"))
    places.place(place(4))
    places.is_whole = True
    return places


def apart(places: KeptPlaces, texts: dict[int, EntryLine], *numbers: int) -> dict[int, bool]:
    def lines(asked: Iterable[int]) -> dict[int, EntryLine]:
        return {number: texts[number] for number in asked if number in texts}

    return places.apart(numbers, MARA, patterns=patterns_of(MARA), lines=lines)


def test_who_is_mentioned_was_there(kept: KeptPlaces, texts: dict[int, EntryLine]) -> None:
    assert apart(kept, texts, 1, 2, 3, 4, 5) == {1: False, 2: False, 3: True, 4: False}


def test_nothing_is_known_until_all_are_placed(
    kept: KeptPlaces, texts: dict[int, EntryLine]
) -> None:
    kept.is_whole = False
    assert apart(kept, texts, 3) == {}


def test_until_a_new_entry_is_placed_nothing_is_known(
    kept: KeptPlaces, texts: dict[int, EntryLine]
) -> None:
    assert apart(kept, texts, 3) == {3: True}
    kept.change([], [6])
    before = apart(kept, texts, 3)
    texts[6] = line(6, "Mara is back.")
    kept.place(place(6, "b"))

    assert before == {}
    assert apart(kept, texts, 3) == {3: False}


def test_until_what_has_changed_is_placed_again_nothing_is_known(
    kept: KeptPlaces, texts: dict[int, EntryLine]
) -> None:
    assert apart(kept, texts, 2, 3) == {2: False, 3: True}
    kept.change([1, 4, 9], [])
    between = apart(kept, texts, 2, 3)
    told = {*kept._told}
    texts[1] = line(1, "Nobody rows.")
    texts[4] = line(4, "Mara again")
    kept.place(place(1, "a"))
    kept.place(place(4, "b"))
    kept.unseen.discard(9)

    assert between == {}
    assert told == {"b"}  # nothing that was forgotten is left
    assert apart(kept, texts, 2, 3, 4) == {2: True, 3: False, 4: False}


def test_beside_a_turn_are_those_before_and_after_it(kept: KeptPlaces) -> None:
    for number in range(10, 16):
        kept.place(place(number, "c", is_turn=number != 12))
    kept.place(place(9, "c", at=20.0))

    assert kept.ties([13])[13] == [(11, "near"), (14, "beside"), (15, "near")]
    assert kept.ties([9, 12, 4]) == {9: [(15, "beside"), (14, "near")], 12: [], 4: []}


def test_what_is_of_one_time_has_the_order_of_ids_which_postgres_tells(kept: KeptPlaces) -> None:
    for number in (10, 11):
        kept.place(place(number, "c", at=7.0, related=("e3",)))

    assert kept.ties([10, 3]) == {3: [(10, "related"), (11, "related")]}


def test_what_is_related_is_found_from_either_side_until_it_is_gone(kept: KeptPlaces) -> None:
    kept.place(place(10, related=("e3", "e99", "e3")))
    before = kept.ties([3, 10])
    kept.place(place(99))
    found = kept.ties([10])
    kept.change([10, 3], [])
    kept.place(place(10))
    kept.unseen.clear()

    assert before == {3: [(10, "related")], 10: [(3, "related"), (3, "related")]}
    assert found == {10: [(3, "related"), (99, "related"), (3, "related")]}
    assert kept.ties([3, 10, 99]) == {10: [], 99: []}
    assert not kept._naming


def test_of_a_session_that_is_not_kept_whole_nothing_is_known(
    kept: KeptPlaces, texts: dict[int, EntryLine]
) -> None:
    del texts[1]
    assert apart(kept, texts, 2, 3) == {3: True}


def test_a_long_session_is_not_looked_through(texts: dict[int, EntryLine]) -> None:
    sessions = KeptPlaces()
    sessions.is_whole = True
    for number in range(10, 10 + LONG):
        texts[number] = texts[3]
        sessions.place(place(number, "long"))
    assert apart(sessions, texts, 10) == {10: True}
    sessions.place(place(3, "long"))

    assert apart(sessions, texts, 10) == {10: False}


def placed(kept: Kept, agent: str, *, knowledge: int = 0, is_last: bool = True) -> Reading:
    """A reading of an agent of which the place of one entry is kept."""
    reading = kept.read_at(("t", agent), knowledge)
    reading.keep([line(1)])
    reading.begin_places()
    reading.place([place(1, "a", length=4000)], is_last=is_last)
    return reading


def test_no_more_places_are_kept_than_may_be() -> None:
    kept = Kept(max_bytes=120_000)
    first, second = (placed(kept, agent) for agent in ("ada", "bea"))

    assert second.apart([1], MARA) == {1: True}
    assert second.apart([1], frozenset()) == {}
    assert first.apart([1], MARA) == {}
    first.place([place(2)], is_last=True)  # who had to make place cannot know what changed since
    assert first.ties([2]) == {}


def test_places_that_are_not_whole_are_forgotten_once_no_more_come() -> None:
    kept = Kept(max_bytes=10**6)
    reading = placed(kept, "ada", is_last=False)
    before = kept._places.bytes
    reading.end_places()

    assert before > 0
    assert kept._places.is_empty
    placed(kept, "ada").end_places()
    reading.begin_places()
    assert reading.ties([1]) == {1: []}


def test_too_many_that_are_new_are_not_worth_it() -> None:
    kept = Kept(max_bytes=10**7)
    reading = placed(kept, "ada")
    (places,) = kept._places
    kept.changed(Change(("t", "ada"), 1, [], range(10, 1011)))

    assert reading.ties([1]) == {}
    assert not places.unseen.isdisjoint(range(10, 1011))
    assert kept._places.is_empty


def test_places_that_are_lost_are_read_again_more_and_more_rarely() -> None:
    kept = Kept(max_bytes=10**7)
    reading = placed(kept, "ada")
    kept._places.drop_all(reading.generation)

    def asked_until_read() -> int:
        """How many questions it takes, each of which has ten entries' ties asked for."""
        for number in range(1000):
            if reading.may_read_ahead(100):
                return number
            reading.ties(range(10))
        raise AssertionError

    assert [asked_until_read() for _ in range(3)] == [10, 20, 40]


def test_places_that_are_too_large_are_not_read_again() -> None:
    kept = Kept(max_bytes=48_000)
    reading = placed(kept, "ada")

    for _ in range(1000):
        assert reading.ties(range(10)) == {}
    assert not reading.may_read_ahead(100)


@pytest.mark.parametrize("seed", range(3))
async def test_it_is_as_postgres_tells_it(
    begin: Begin, reading_engine: AsyncEngine, settings: Settings, seed: int
) -> None:
    chance = random.Random(seed)
    speakers = ("Mara", "Tom", "Tom Hale", "Ana", "MARA", "Élodie", "Bo", "Bo", "Bo")
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
    kept, owner = Kept(max_bytes=10**8), (settings.tenant_id, "ada")
    async with begin(write=False) as transaction:
        known = await transaction.search.recognise((), (), model="")
    kept.read_at(owner, known.knowledge)
    ahead = ReadingAhead(reading_engine, kept)
    ahead.begin(owner)
    assert ahead._working is not None
    await ahead._working
    reading = kept.reading(owner, known.knowledge)
    numbers = [one.number for one in kept._lines]
    assert len(numbers) == len(said)

    for names in map(frozenset, NAMES):
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
    memory._ahead.begin(owner)
    await asyncio.wait_for(memory._ahead._working or asyncio.sleep(0), 30)
    (places,), found = memory._kept._places, 0
    first = min(places._places)
    numbers = range(first, first + 200)
    assert await ties(memory) == await ties(forgetful) != {}
    for _ in range(12):
        by = writer.chance.choice((memory, forgetful))
        async with begin(by, write=True) as transaction:
            what = writer.chance.choice(("add", "change", "remove"))
            await writer.write(transaction.entries, what)
        if by is forgetful:
            await heard(memory, settings, await knowledge(forgetful, settings))
        assert await ties(memory) == await ties(forgetful)
        assert not places.unseen
        found += len(places.ties(numbers))

    assert [*memory._kept._places] == [places]  # all the time
    assert found > 100


async def knowledge(memory: PostgresMemory, settings: Settings) -> int:
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=False
    ) as transaction:
        return (await transaction.search.recognise((), (), model="")).knowledge


async def heard(memory: PostgresMemory, settings: Settings, number: int) -> None:
    """Waits until a process has heard of a change."""
    async with asyncio.timeout(30):
        while memory._kept._states[settings.tenant_id, "ada"].knowledge < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def told(begin: Begin, numbers: Sequence[int], names: frozenset[str]) -> set[int]:
    """Those of which Postgres tells that nobody of the names was there."""
    async with begin(write=False) as transaction:
        unit = cast("PostgresSearchStore", transaction.search)._unit
        (rows,) = await unit.rows_of(KnownSessions(unit).apart(numbers, search(names=names)))
    return {row.number for row in rows}


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
    memory._ahead.begin(owner)
    await asyncio.wait_for(memory._ahead._working or asyncio.sleep(0), 30)
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
    (sessions,) = memory._kept._places
    assert sessions.is_whole
    assert await told(0.003) == before
    assert sessions._told  # from there it was told
    async with forgetful.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.entries.add(
            [entry("new", "Mara, the ferry!", session_id="s1", at=NOON, speaker="Bo")]
        )

    after = await told(0.004)
    assert {"e5", "e7", "e8", "e9"}.isdisjoint(before)
    assert not {"e5", "e7", "e8", "e9"}.isdisjoint(after)
