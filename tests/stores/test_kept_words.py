"""The names and words that a process keeps: what it reads others as, beside Postgres, and how long it knows them."""

import random
import string
import sys
import tracemalloc
from collections.abc import Mapping

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from mnestic.memory.search import Vocabulary
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_places import Place
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.unit import Change
from tests.stores.conftest import Begin
from tests.stores.entry_samples import entry
from tests.stores.kept_samples import claimed, read_ahead

ADA = ("t", "ada")
LETTERS = ("ba", "be", "an", "ná", "ři", "to", "ด", "เก", "ст", "ol")


def read(names: list[str], words: dict[str, int]) -> KeptWords:
    kept = KeptWords()
    kept.enter([(number, 3) for number in range(10)])
    kept.name([("subject", name, [1]) for name in names])
    kept.post([(word, [*range(number)], [1] * number) for word, number in words.items()])
    return kept


def test_words_are_found_by_how_they_begin_and_how_long_they_are() -> None:
    kept = read(
        ["mara", "marta", "tom"],
        {"ferri": 3, "ferryman": 1, "ferr": 2, "fern": 9, "ferret": 4, "far": 1, "terri": 5},
    )

    assert kept.names("m") == {"mara": 1, "marta": 1}
    assert kept.names("x") == {}
    assert kept.begun("ferr", most=3) == {"ferr": 2, "ferri": 3, "ferret": 4}
    assert kept.begun("x", most=3) == {}
    assert kept.about_as_long("ferrz", shortest=4, slips=1) == {
        "ferri": 3,
        "ferr": 2,
        "fern": 9,
        "ferret": 4,
    }
    assert kept.about_as_long("faz", shortest=4, slips=1) == {"ferr": 2, "fern": 9}


def test_it_tells_how_much_memory_it_takes() -> None:
    chance = random.Random(1)
    letters = string.ascii_lowercase
    words = ["".join(chance.choices(letters, k=7)) for _ in range(20_000)]
    told = [sys.intern(f"{word}{number}") for number, word in enumerate(words)]
    some = [chance.sample(range(5000), chance.randrange(1, 20)) for _ in told]
    tracemalloc.start()
    kept = KeptWords()
    kept.enter([(number, 9) for number in range(5000)])
    kept.name([("subject", name, [*range(number % 30)]) for number, name in enumerate(told[:2000])])
    kept.post([(one, each, [1] * len(each)) for one, each in zip(told, some, strict=True)])
    kept.best([(told[0], 1.0, 1)], average=9.0, limit=9)
    taken = tracemalloc.get_traced_memory()[0] + sum(sys.getsizeof(word) for word in told)
    tracemalloc.stop()

    assert 0.7 * taken < kept.bytes < 1.5 * taken


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_misspelt_is_read_as_postgres_finds_it(
    begin: Begin, memory: PostgresMemory, settings: Settings, seed: int
) -> None:
    owner, chance = (settings.tenant_id, "ada"), random.Random(seed)

    def word() -> str:
        return "".join(chance.choices(LETTERS, k=chance.randrange(2, 5)))

    names = [word().capitalize() for _ in range(60)]
    said = [
        entry(
            f"e{number}",
            " ".join(word() for _ in range(6)),
            subjects=(chance.choice(names),),
            aliases=(chance.choice(names),),
        )
        for number in range(40)
    ]
    async with begin() as transaction:
        await transaction.settings.put("language", "simple")
        await transaction.entries.add(said)
    asked = [word() for _ in range(40)] + [one[:-1] for one in names] + [f"{names[0]}x"]

    async def told() -> list[tuple[Mapping[str, str], Vocabulary]]:
        found = []
        async with memory.transaction(
            tenant_id=owner[0], agent_id="ada", actor="test", write=False
        ) as transaction:
            known = await transaction.search.recognise((), asked, model="")
            for some in (asked[:20], asked[20:40], asked[40:60], asked[60:]):
                near = await transaction.search.near_names(some, known)
                read = await transaction.search.look_up(some, known, slips=some)
                found.append((near, read))
        return found

    before = await told()
    assert not memory._kept._places
    await read_ahead(memory._ahead, owner)
    (places,) = memory._kept._places

    assert places.words is not None
    assert await told() == before
    assert any(near for near, _ in before)
    assert any(read.misspelt for _, read in before)


async def test_all_words_are_read_once_all_rows_are(
    reading_engine: AsyncEngine, begin: Begin, settings: Settings
) -> None:
    kept, owner = Kept(max_bytes=10**7), (settings.tenant_id, "ada")
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry("e1", "The ferry and a boat.", subjects=("Mara",), aliases=("Mars",)),
                entry("e2", "A boat.", subjects=("Mara",), tags=("mud",)),
            ]
        )
    async with begin(write=False) as transaction:
        known = await transaction.search.recognise((), (), model="")
    reading = kept.read_at(owner, known.knowledge)
    await read_ahead(ReadingAhead(reading_engine, kept), owner)

    assert reading.words is not None
    assert reading.words.names("m") == {"mara": 1, "mars": 1}
    assert reading.words.begun("boat", most=1) == {"boat": 2}


def test_words_are_forgotten_with_each_change_of_entries_and_read_again_more_and_more_rarely() -> (
    None
):
    kept = Kept(max_bytes=10**6)
    reading = kept.read_at(ADA, 0)
    reading.begin_places()
    reading.place([Place(1, "a", None, 0.0, is_turn=False, related=(), length=3)], is_last=True)

    def asked_until_read(knowledge: int) -> int:
        """How many questions it takes once an entry is another."""
        kept.changed(Change(ADA, knowledge, [1], [], is_of_facts=False))
        asked = 1
        kept.ask(ADA)
        while not kept.begin_words(ADA):
            kept.ask(ADA)
            asked += 1
        kept.reading(ADA, knowledge).keep_words(KeptWords())
        return asked

    assert kept.begin_words(ADA)
    reading.keep_words(KeptWords())
    assert [asked_until_read(knowledge) for knowledge in range(1, 10)] == [
        *(1, 2, 4, 8, 16, 32, 64, 100, 100)
    ]
    kept.changed(Change(ADA, 10, [], []))
    assert kept.reading(ADA, 10).words is not None


def test_words_that_change_while_they_are_read_are_not_read_again_each_time() -> None:
    kept = Kept(max_bytes=10**6)
    reading = kept.read_at(ADA, 0)
    reading.begin_places()
    reading.place([Place(1, "a", None, 0.0, is_turn=False, related=(), length=3)], is_last=True)

    begun = []
    for number in range(1, 20):
        kept.ask(ADA)
        if kept.begin_words(ADA):
            begun.append(number)
            before = kept.reading(ADA, len(begun) - 1)
            kept.changed(Change(ADA, len(begun), [1], [], is_of_facts=False))
            before.keep_words(KeptWords())

    assert begun == [1, 2, 4, 8, 16]
    assert kept.reading(ADA, len(begun)).words is None


def test_words_make_place_for_what_was_claimed() -> None:
    kept = Kept(max_bytes=60_000)  # a fifth for places
    reading = kept.read_at(ADA, 0)
    reading.begin_places()
    reading.place([Place(1, "a", None, 0.0, is_turn=True, related=(), length=3)], is_last=True)
    reading.keep_words(read([], {f"word{number}": 1 for number in range(60)}))
    assert reading.words is not None

    reading.keep_claims(claimed(20))

    assert reading.words is None
    assert not kept.lacks_words(ADA)
    assert reading.over([1], frozenset(), now=2.0) == {1: False}


def test_words_that_are_too_large_leave_places_as_they_are() -> None:
    kept = Kept(max_bytes=20_000)
    reading = kept.read_at(ADA, 0)
    reading.begin_places()
    reading.place([Place(1, "a", None, 0.0, is_turn=True, related=(), length=3)], is_last=True)
    reading.keep_words(read([], {f"word{number}": 1 for number in range(100)}))

    assert reading.words is None
    assert not kept.lacks_words(ADA)
    assert reading.ties([1]) == {1: []}
