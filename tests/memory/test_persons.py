"""Several who are named: what concerns one of them apart from the others."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.candidates import Candidate
from mnestic.memory.persons import persons_of, set_apart
from mnestic.memory.questions import Named
from mnestic.memory.search import KnownName

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ANN, BEN = 1, 2


def said(number: int, session_id: str | None, **fields: Any) -> Candidate:
    values = {"concern": "named", "is_said": True, "is_turn": True, "session_id": session_id}
    return Candidate(number=number, entry_id=str(number), at=NOON, **(values | fields))


def concerns(*candidates: Candidate) -> dict[int, str]:
    set_apart(candidates, number=2)
    return {one.number: one.concern for one in candidates}


def test_what_was_said_where_both_spoke_concerns_both() -> None:
    apart = said(3, "other", persons=ANN)

    told = concerns(said(1, "both", persons=ANN), said(2, "both", persons=BEN), apart)

    assert told == {1: "named", 2: "named", 3: "apart"}
    assert not apart.is_said


def test_who_is_mentioned_is_of_the_conversation() -> None:
    told = concerns(
        said(1, "mentions", persons=ANN | BEN),
        said(2, "mentions", persons=ANN),
        said(3, "alone", persons=BEN),
    )
    assert told == {1: "named", 2: "named", 3: "apart"}


def test_where_nothing_concerns_both_either_is_told() -> None:
    told = concerns(said(1, "one", persons=ANN), said(2, "another", persons=BEN))
    assert told == {1: "named", 2: "named"}


def test_what_was_kept_concerns_whom_it_names_itself() -> None:
    kept: dict[str, Any] = {"is_turn": False, "is_said": False}
    told = concerns(
        said(1, "s", persons=ANN | BEN, **kept),
        said(2, "s", persons=ANN, **kept),
        said(3, None, persons=BEN, **kept),
        said(4, None, persons=0, concern="open", **kept),
    )
    assert told == {1: "named", 2: "apart", 3: "apart", 4: "open"}


def test_several_names_may_be_of_one() -> None:
    known = {
        "ann": KnownName(frozenset({"ann", "ann lee"}), speaks=True),
        "ann lee": KnownName(frozenset({"ann lee"}), speaks=True),
        "ben": KnownName(frozenset({"ben"}), speaks=True),
    }

    both = persons_of(Named(words=(), names=("ann", "ben", "ann lee")), known)
    one = persons_of(Named(words=(), names=("ann", "ann lee")), known)

    assert set(both) == {frozenset({"ann", "ann lee"}), frozenset({"ben"})}
    assert one == ()
