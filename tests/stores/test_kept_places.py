"""Conversations that a process keeps: who was there is as Postgres tells it, or not known."""

import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import cast

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.starter.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.candidates import EntryLine, patterns_of
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_sessions import LONG, KeptSessions
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


@pytest.fixture
def kept(texts: dict[int, EntryLine]) -> KeptSessions:
    sessions = KeptSessions()
    for number in texts:
        sessions.place(number, "b" if number == 3 else "a")
    sessions.place(4, None)
    sessions.is_whole = True
    return sessions


def apart(sessions: KeptSessions, texts: dict[int, EntryLine], *numbers: int) -> dict[int, bool]:
    def lines(asked: Iterable[int]) -> dict[int, EntryLine]:
        return {number: texts[number] for number in asked if number in texts}

    return sessions.apart(numbers, MARA, patterns=patterns_of(MARA), lines=lines)


def test_who_is_mentioned_was_there(kept: KeptSessions, texts: dict[int, EntryLine]) -> None:
    assert apart(kept, texts, 1, 2, 3, 4, 5) == {1: False, 2: False, 3: True, 4: False}


def test_nothing_is_known_until_all_are_placed(
    kept: KeptSessions, texts: dict[int, EntryLine]
) -> None:
    kept.is_whole = False
    assert apart(kept, texts, 3) == {}


def test_until_a_new_entry_is_placed_nothing_is_known(
    kept: KeptSessions, texts: dict[int, EntryLine]
) -> None:
    assert apart(kept, texts, 3) == {3: True}
    kept.change([], [6])
    before = apart(kept, texts, 3)
    texts[6] = line(6, "Mara is back.")
    kept.place(6, "b")

    assert before == {}
    assert apart(kept, texts, 3) == {3: False}


def test_of_a_session_that_has_changed_nothing_is_known(
    kept: KeptSessions, texts: dict[int, EntryLine]
) -> None:
    assert apart(kept, texts, 2, 3) == {2: False, 3: True}
    kept.change([1, 4, 9], [])

    assert kept._told.keys() == {"b"}  # nothing that was forgotten is left
    assert apart(kept, texts, 2, 3) == {3: True}


def test_of_a_session_that_is_not_kept_whole_nothing_is_known(
    kept: KeptSessions, texts: dict[int, EntryLine]
) -> None:
    del texts[1]
    assert apart(kept, texts, 2, 3) == {3: True}


def test_a_long_session_is_not_looked_through(texts: dict[int, EntryLine]) -> None:
    sessions = KeptSessions()
    sessions.is_whole = True
    for number in range(10, 10 + LONG):
        texts[number] = texts[3]
        sessions.place(number, "long")
    assert apart(sessions, texts, 10) == {10: True}
    sessions.place(3, "long")

    assert apart(sessions, texts, 10) == {10: False}


def test_no_more_sessions_are_kept_than_may_be() -> None:
    kept = Kept(max_bytes=320_000)
    for agent in ("ada", "bea"):
        sessions = KeptSessions()
        sessions.place(1, "a", length=4000)
        sessions.is_whole = True
        reading = kept.read_at(("t", agent), 0)
        reading.keep([line(1)])
        reading.keep_sessions(sessions)

    assert reading.apart([1], MARA) == {1: True}
    assert kept.read_at(("t", "ada"), 0).apart([1], MARA) == {}


def test_too_many_that_are_new_are_not_worth_it() -> None:
    kept = Kept(max_bytes=10**7)
    owner, sessions = ("t", "ada"), KeptSessions()
    reading = kept.read_at(owner, 0)
    reading.keep_sessions(sessions)
    sessions.place(1, "a")
    sessions.is_whole = True
    reading.keep([line(1)])

    assert reading.apart([1], MARA) == {1: True}
    assert reading.apart([1], frozenset()) == {}
    kept.changed(Change(owner, 1, [], range(10, 1011)))
    assert not sessions.unseen.isdisjoint(range(10, 1011))
    assert kept._sessions.is_empty


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


async def told(begin: Begin, numbers: Sequence[int], names: frozenset[str]) -> set[int]:
    """Those of which Postgres tells that nobody of the names was there."""
    async with begin(write=False) as transaction:
        unit = cast("PostgresSearchStore", transaction.search)._unit
        (rows,) = await unit.rows_of(KnownSessions(unit).apart(numbers, search(names=names)))
    return {row.number for row in rows}


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
    (sessions,) = memory._kept._sessions
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
