"""What a process keeps: how much, and what becomes of it when a change is heard of, late, or never."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.retrieval import Retrieval
from mnestic.stores.postgres.candidates import EntryLine
from mnestic.stores.postgres.kept import Kept

ADA, BEA = ("t", "ada"), ("t", "bea")
MANY = 10**6


def line(number: int, content: str = "The ferry leaves at nine.") -> EntryLine:
    return EntryLine(
        number=number,
        entry_id=str(number),
        session_id=None,
        speaker="",
        subjects=frozenset(),
        aliases=frozenset(),
        tags=frozenset(),
        at=datetime(2026, 1, 1, tzinfo=UTC),
        importance=0.5,
        is_turn=False,
        asks=False,
        times=(),
        content=content,
        is_active=True,
        expires_at=None,
    )


def test_no_more_is_kept_than_may_be() -> None:
    kept = Kept(max_bytes=40_000)
    reading = kept.read_at(ADA, 1)

    for number in range(100):
        reading.keep([line(number)])
        kept.keep_answer(ADA, str(number), Retrieval(), knowledge=1, until=9.0)

    counts = kept.counts()
    assert 0 < counts.entries.bytes + counts.answers.bytes <= 40_000
    assert 0 < counts.entries.held < 100
    assert not reading.lines([0])
    assert reading.lines([99])


def test_what_is_used_stays_and_the_rest_makes_place() -> None:
    kept = Kept(max_bytes=40_000)
    reading = kept.read_at(ADA, 1)

    for number in range(100):
        reading.keep([line(number)])
        assert reading.lines([0])


def test_a_long_text_is_not_kept() -> None:
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ADA, 1)

    reading.keep([line(1, "x" * 5000)])

    assert not reading.lines([1])


def test_of_a_change_that_is_heard_of_only_what_it_names_is_dropped() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1), line(2)])
    kept.read_at(BEA, 1).keep([line(1)])

    kept.changed(ADA, 2, [1])

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.read_at(ADA, 2).lines([2])
    assert kept.read_at(BEA, 1).lines([1])


@pytest.mark.parametrize(("knowledge", "numbers"), [(3, [2]), (2, None)], ids=["gap", "any"])
def test_where_it_is_not_known_what_changed_all_is_dropped(
    knowledge: int, numbers: list[int] | None
) -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1), line(2)])

    kept.changed(ADA, knowledge, numbers)

    assert kept.counts().entries.held == 0
    assert not kept.read_at(ADA, knowledge).lines([1])


def test_a_change_that_is_not_heard_of_drops_all_when_it_is_seen() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 1).keep([line(1)])

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.counts().entries.held == 0


def test_a_change_that_is_heard_of_late_changes_nothing() -> None:
    kept = Kept(max_bytes=MANY)
    kept.read_at(ADA, 2).keep([line(1)])

    kept.changed(ADA, 2, [1])

    assert kept.read_at(ADA, 2).lines([1])


def test_what_was_read_before_a_change_is_not_kept_after_it() -> None:
    kept = Kept(max_bytes=MANY)
    reading = kept.read_at(ADA, 1)

    kept.changed(ADA, 2, [1])
    reading.keep([line(1)])
    kept.keep_answer(ADA, "ferry?", Retrieval(), knowledge=1, until=9.0)

    assert not kept.read_at(ADA, 2).lines([1])
    assert kept.counts().answers.held == 0


@pytest.mark.parametrize(("knowledge", "now"), [(2, 1.0), (1, 9.0)], ids=["changed", "over"])
def test_an_answer_is_told_only_while_it_is_true(knowledge: int, now: float) -> None:
    kept = Kept(max_bytes=MANY)
    kept.keep_answer(ADA, "ferry?", Retrieval(), knowledge=1, until=9.0)

    assert kept.answer(ADA, "ferry?", knowledge=1, now=8.9) == Retrieval()
    assert kept.answer(ADA, "ferry?", knowledge=knowledge, now=now) is None
    assert kept.answer(ADA, "ferry?", knowledge=1, now=1.0) is None


def test_hit_rates_are_shares_of_what_was_looked_for() -> None:
    kept = Kept(max_bytes=MANY)
    assert kept.counts().entries.hit_rate == 0
    reading = kept.read_at(ADA, 1)
    reading.keep([line(1)])

    for number in (1, 1, 1, 2):
        reading.lines([number])

    assert kept.counts().entries.hit_rate == pytest.approx(0.75)
