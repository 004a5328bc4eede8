"""What a process keeps: how much, and what becomes of it when a change is heard of, late, or never."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from mnestic.memory.retrieval import Retrieval
from mnestic.stores.postgres.candidates import EntryLine, line_of
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_vectors import MOST_LACKING
from mnestic.stores.postgres.unit import Change
from tests.stores.kept_samples import whole

ADA, BEA = ("t", "ada"), ("t", "bea")
MANY = 10**6


def line(number: int, content: str = "The ferry leaves at nine.") -> EntryLine:
    row = SimpleNamespace(
        number=number,
        id=str(number),
        session_id=None,
        speaker="",
        subjects="[]",
        aliases="[]",
        tags="[]",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        importance=0.5,
        entry_type="observation",
        times="[]",
        content=content,
        status="active",
        expires_at=None,
    )
    return line_of(row)


def test_no_more_is_kept_than_may_be() -> None:
    kept = Kept(max_bytes=220_000)
    reading = kept.read_at(ADA, 1)

    for number in range(100):
        reading.keep([line(number)])
        kept.keep_answer(ADA, str(number), Retrieval(), knowledge=1, until=9.0)

    counts = kept.counts()
    assert 0 < counts.entries.bytes <= 110_000
    assert 0 < counts.answers.bytes <= 22_000
    assert 0 < counts.entries.held < 100
    assert not reading.lines([0])
    assert reading.lines([99])


def test_what_is_used_stays_and_the_rest_makes_place() -> None:
    kept = Kept(max_bytes=90_000)
    reading = kept.read_at(ADA, 1)

    for number in range(100):
        reading.keep([line(number)])
        assert reading.lines([0])


def test_all_is_read_ahead_once_a_quarter_was_missed() -> None:
    kept = Kept(max_bytes=10 * MANY)
    reading = kept.read_at(ADA, 1)
    reading.keep_ahead([line(number) for number in range(1000, 1200)])

    asked = []
    for number in range(150):
        reading.keep([line(number), line(1000)])  # which is there already
        asked.append(reading.may_read_ahead(entries=480))

    assert [place for place, may in enumerate(asked, 1) if may] == [120]
    assert not kept.reading(BEA, 1).may_read_ahead(entries=0)


def test_nothing_is_read_ahead_where_not_all_has_place() -> None:
    kept = Kept(max_bytes=3 * MANY)  # half for rows
    reading = kept.read_at(ADA, 1)
    reading.keep([line(number) for number in range(300)])

    assert not reading.may_read_ahead(entries=900)
    assert reading.may_read_ahead(entries=500)


def test_what_is_read_ahead_makes_nothing_go() -> None:
    kept = Kept(max_bytes=150_000)
    reading = kept.read_at(ADA, 1)
    reading.keep([line(1)])

    assert reading.keep_ahead([line(2), line(3, "x" * 5000)])
    assert not reading.keep_ahead([line(number) for number in range(10, 90)])
    assert reading.held([1, 2, 3, 10]).keys() == {1, 2}
    kept.changed(Change(ADA, 2, [], []))
    assert not reading.keep_ahead([line(4)])


def test_few_that_were_missed_are_not_worth_it() -> None:
    reading = Kept(max_bytes=MANY).read_at(ADA, 1)
    reading.keep([line(number) for number in range(99)])

    assert not reading.may_read_ahead(entries=99)


def test_a_long_text_is_not_kept() -> None:
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ADA, 1)

    reading.keep([line(1, "x" * 5000)])

    assert not reading.lines([1])


def test_of_a_change_that_is_heard_of_only_what_it_names_is_dropped() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1), line(2)])
    kept.read_at(BEA, 1).keep([line(1)])

    kept.changed(Change(ADA, 2, [1], []))

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.read_at(ADA, 2).lines([2])
    assert kept.read_at(BEA, 1).lines([1])


@pytest.mark.parametrize(("knowledge", "numbers"), [(3, [2]), (2, None)], ids=["gap", "any"])
def test_where_it_is_not_known_what_changed_all_is_dropped(
    knowledge: int, numbers: list[int] | None
) -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1), line(2)])

    kept.changed(Change(ADA, knowledge, numbers, []))

    assert kept.counts().entries.held == 0
    assert not kept.read_at(ADA, knowledge).lines([1])


def test_vectors_are_kept_of_who_is_asked_again_and_lack_what_changes() -> None:
    kept, held = Kept(max_bytes=MANY), whole(2)
    held.add(np.array([1, 2]), np.eye(2, dtype=np.float16))
    reading = kept.read_at(ADA, 1)

    asked = [reading.may_keep_vectors(2, 2) for _ in range(2)]
    reading.keep_vectors("model", held)
    kept.changed(Change(ADA, 2, [1], [7]))

    assert asked == [False, True]
    assert kept.read_at(ADA, 2).vectors("model") is held
    assert (len(held), held.lacking) == (1, {1, 7})


def test_vectors_are_dropped_where_it_is_not_known_what_is_new() -> None:
    kept, held = Kept(max_bytes=MANY), whole(2)
    reading = kept.read_at(ADA, 1)
    reading.keep([line(1)])
    reading.keep_vectors("model", held)

    kept.changed(Change(ADA, 2, [], None))

    assert kept.read_at(ADA, 2).vectors("model") is None
    assert kept.read_at(ADA, 2).lines([1])


def test_no_more_vectors_are_kept_than_may_be() -> None:
    kept = Kept(max_bytes=75_000)
    for knowledge, owner in enumerate([ADA, BEA, ("t", "cleo")]):
        reading, held = kept.read_at(owner, knowledge), whole(4)
        held.add(np.arange(400), np.ones((400, 4), dtype=np.float16))
        reading.keep_vectors("model", held)

    assert kept.counts().vectors.bytes <= 15_000
    assert kept.read_at(ADA, 0).vectors("model") is None
    assert kept.read_at(("t", "cleo"), 2).vectors("model") is not None
    assert not any(reading.may_keep_vectors(10_000, 4) for _ in range(3))


@pytest.mark.parametrize("number", [100, 500, 550, 555, 560, 620, 630])
def test_vectors_are_read_only_where_they_are_kept(number: int) -> None:
    kept = Kept(max_bytes=75_000)
    reading, held = kept.read_at(ADA, 1), whole(4)

    may = [reading.may_keep_vectors(number, 4) for _ in range(2)][-1]
    held.add(np.arange(number), np.ones((number, 4), dtype=np.float16))
    reading.keep_vectors("model", held)

    assert not may or reading.vectors("model") is held


def test_vectors_that_make_place_again_and_again_are_read_less_and_less_often() -> None:
    reading = Kept(max_bytes=MANY).read_at(ADA, 1)

    read = [number for number in range(1, 60) if reading.may_keep_vectors(1, 4)]

    assert read == [2, 5, 10, 19, 36]


def test_vectors_are_dropped_once_most_of_them_are_others() -> None:
    kept, held = Kept(max_bytes=MANY), whole(2)
    kept.read_at(ADA, 0).keep_vectors("model", held)

    for knowledge in range(1, MOST_LACKING // 100 + 2):
        named = range(100 * knowledge, 100 * (knowledge + 1))
        kept.changed(Change(ADA, knowledge, named, []))

    assert kept.read_at(ADA, knowledge).vectors("model") is None


def test_a_search_that_began_before_a_change_neither_finds_nor_drops_what_is_kept() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 2).keep([line(1)])

    before = kept.reading(ADA, 1)
    before.keep([line(1, "It left at noon.")])

    assert not before.is_current
    assert not before.lines([1])
    assert kept.reading(ADA, 2).lines([1])[1].content == line(1).content


def test_a_change_that_is_not_heard_of_drops_all_when_it_is_seen() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1)])

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.counts().entries.held == 0


def test_who_read_the_count_just_before_a_change_was_heard_of_makes_nothing_go() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(7)])
    kept.changed(Change(ADA, 2, [], []))

    before = kept.read_at(ADA, 1)
    before.keep([line(8)])
    assert not before.lines([7, 8])
    assert kept.read_at(ADA, 2).lines([7, 8]).keys() == {7}

    kept._states[ADA].heard -= 60  # seconds: then the database is an older one
    kept.read_at(ADA, 1)
    assert not kept.read_at(ADA, 2).lines([7])


def test_a_change_that_is_heard_of_late_changes_nothing() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 2).keep([line(1)])

    kept.changed(Change(ADA, 2, [1], []))

    assert kept.read_at(ADA, 2).lines([1])


def test_what_was_read_before_a_change_is_not_kept_after_it() -> None:
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ADA, 1)

    kept.changed(Change(ADA, 2, [1], []))
    reading.keep([line(1)])
    kept.keep_answer(ADA, "ferry?", Retrieval(), knowledge=1, until=9.0)

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.counts().answers.held == 0


@pytest.mark.parametrize(("knowledge", "now"), [(2, 1.0), (1, 9.0)], ids=["changed", "over"])
def test_an_answer_is_told_only_while_it_is_true(knowledge: int, now: float) -> None:
    kept = Kept(max_bytes=MANY)
    kept.keep_answer(ADA, "ferry?", Retrieval(), knowledge=1, until=9.0)

    assert kept.answers.get(ADA, "ferry?", knowledge=1, now=8.9) == Retrieval()
    assert kept.answers.get(ADA, "ferry?", knowledge=knowledge, now=now) is None
    assert kept.answers.get(ADA, "ferry?", knowledge=1, now=1.0) is None


def test_hit_rates_are_shares_of_what_was_looked_for() -> None:
    kept = Kept(max_bytes=MANY)
    assert kept.counts().entries.hit_rate == 0
    reading = kept.read_at(ADA, 1)
    reading.keep([line(1)])

    for number in (1, 1, 1, 2):
        reading.lines([number])

    assert kept.counts().entries.hit_rate == pytest.approx(0.75)
