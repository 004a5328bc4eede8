"""Places that a process keeps: who was there, and what is tied to what, is as Postgres tells it, or not known."""

import math
import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.dates import Period
from mnestic.stores.postgres.candidates import EntryLine, patterns_of
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_claims import KeptClaims
from mnestic.stores.postgres.kept_places import LONG, KeptPlaces, Place
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.unit import Change
from tests.stores.kept_samples import claimed, fact
from tests.stores.test_kept import line

MARA = frozenset({"mara"})


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


def period(start: float, end: float) -> Period:
    """Of seconds since 1970."""
    return Period(datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC), "day")


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
    kept = Kept(max_bytes=50_000)
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
    kept = Kept(max_bytes=20_000)
    reading = placed(kept, "ada")

    for _ in range(1000):
        assert reading.ties(range(10)) == {}
    assert not reading.may_read_ahead(100)


def test_claims_that_are_too_large_leave_places_as_they_are() -> None:
    kept, owner = Kept(max_bytes=50_000), ("t", "ada")
    reading = placed(kept, "ada")
    assert kept.lacks_claims(owner)
    reading.keep_claims(claimed(10))

    assert not kept.lacks_claims(owner)
    assert reading.over([1], frozenset(), now=0.0) == {}
    assert reading.ties([1]) == {1: []}


def test_claims_that_change_are_read_again_more_and_more_rarely() -> None:
    kept, owner = Kept(max_bytes=10**6), ("t", "ada")
    placed(kept, "ada")

    def asked_until_read(knowledge: int) -> int:
        """How many questions it takes once facts have changed."""
        kept.changed(Change(owner, knowledge, [], []))
        asked = 1
        kept.ask(owner)
        while not kept.begin_claims(owner):
            kept.ask(owner)
            asked += 1
        kept.reading(owner, knowledge).keep_claims(claims)
        return asked

    claims = KeptClaims()
    claims.claim([("a", None, [("mara", "likes", [0])])])
    claims.believe([fact(0, "mara", "likes")])
    assert kept.begin_claims(owner)
    kept.reading(owner, 0).keep_claims(KeptClaims())
    assert [asked_until_read(knowledge) for knowledge in range(1, 10)] == [
        *(1, 2, 4, 8, 16, 32, 64, 100, 100)
    ]
    assert kept.reading(owner, 9).over([1], frozenset(), now=0.0) == {1: False}
    kept.changed(Change(owner, 10, [], [], is_of_facts=False))
    assert kept.reading(owner, 10).over([1], frozenset(), now=0.0) == {1: False}


@pytest.mark.parametrize("seed", range(5))
def test_the_last_of_a_time_are_those_that_hold_whatever_has_moved(seed: int) -> None:
    chance, places = random.Random(seed), KeptPlaces()
    there: dict[int, Place] = {}

    def put(number: int) -> None:
        holds_until = chance.choice((math.inf, math.inf, 5.0, -math.inf))
        there[number] = place(number, at=chance.uniform(0, 100), holds_until=holds_until)
        places.place(there[number])

    for number in range(300):
        put(number)
    assert places.of_time(period(0, 100), now=1.0, limit=3) is None  # until all are placed
    places.is_whole = True
    for step in range(200):
        if step % 3:
            put(chance.randrange(310))
        else:
            places.change([gone := chance.choice(sorted(there))], [])
            places.unseen.clear()
            del there[gone]
        start, now = chance.uniform(0, 90), chance.choice((1.0, 9.0))
        end = start + chance.choice((1, 10, 50))
        within = [one for one in there.values() if start <= one.at < end and one.holds_until > now]
        last = sorted(within, key=lambda one: -one.at)[:20]
        found = places.of_time(period(start, end), now=now, limit=20)
        active = [one for one in there.values() if one.holds_until > -math.inf]
        is_any = any(start <= one.at < end for one in active)
        assert places.has_time(period(start, end)) == is_any
        assert found == [one.number for one in last]


def test_which_of_one_time_are_the_last_hangs_on_their_ids_which_postgres_orders() -> None:
    places = KeptPlaces()
    for number, at in enumerate((1.0, 2.0, 2.0, 3.0)):
        places.place(place(number, at=at))
    places.is_whole = True

    assert places.of_time(period(0, 9), now=0.0, limit=2) is None
    assert {*(places.of_time(period(0, 9), now=0.0, limit=3) or ())} == {1, 2, 3}
    assert {*(places.of_time(period(0, 3), now=0.0, limit=2) or ())} == {1, 2}


def test_entries_that_hold_are_known_by_id_once_all_are_placed(kept: KeptPlaces) -> None:
    kept.place(place(5, holds_until=9.0))

    assert kept.holding(["e1", "e5", "e9"], now=5.0) == {"e1": 1, "e5": 5}
    assert kept.holding(["e1", "e5"], now=9.0) == {"e1": 1}
    kept.change([], [9])
    assert kept.holding(["e1"], now=5.0) is None
