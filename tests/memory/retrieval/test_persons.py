"""Several who are named: what concerns one of them apart from the others."""

from datetime import UTC, datetime
from typing import Any

from mnestic.memory.retrieval.candidates import CONCERNS
from mnestic.memory.retrieval.persons import find_unrelated_turns, named_groups, separate_by_person
from mnestic.memory.retrieval.query_parsing import NameMatch
from mnestic.memory.retrieval.search import NameRow
from tests.memory.retrieval.candidate_samples import Sample, candidates

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ANN, BEN = 1, 2


def said(number: int, session_id: str | None, **fields: Any) -> Sample:
    values = {
        "concern": "named",
        "is_by_named_speaker": True,
        "is_turn": True,
        "session_id": session_id,
    }
    return Sample(number=number, at=NOON, **(values | fields))


def concerns(*samples: Sample) -> dict[int, str]:
    """The concern of each, in capitals where it is still told as said by who is named."""
    told = candidates(samples)
    separate_by_person(told, number=2)
    return {
        row["number"]: CONCERNS[row["concern"]].upper()
        if row["is_by_named_speaker"]
        else CONCERNS[row["concern"]]
        for row in told.rows
    }


def test_what_was_said_where_both_spoke_concerns_both() -> None:
    told = concerns(
        said(1, "both", persons=ANN),
        said(2, "both", persons=BEN),
        said(3, "other", persons=ANN),
    )
    assert told == {1: "NAMED", 2: "NAMED", 3: "apart"}


def test_who_is_mentioned_is_of_the_conversation() -> None:
    told = concerns(
        said(1, "mentions", persons=ANN | BEN),
        said(2, "mentions", persons=ANN),
        said(3, "alone", persons=BEN),
    )
    assert told == {1: "NAMED", 2: "NAMED", 3: "apart"}


def test_where_nothing_concerns_both_either_is_told() -> None:
    told = concerns(said(1, "one", persons=ANN), said(2, "another", persons=BEN))
    assert told == {1: "NAMED", 2: "NAMED"}


def test_what_was_kept_concerns_whom_it_names_itself() -> None:
    kept: dict[str, Any] = {"is_turn": False, "is_by_named_speaker": False}
    told = concerns(
        said(1, "s", persons=ANN | BEN, **kept),
        said(2, "s", persons=ANN, **kept),
        said(3, None, persons=BEN, **kept),
        said(4, None, persons=0, concern="open", **kept),
    )
    assert told == {1: "named", 2: "apart", 3: "apart", 4: "open"}


def test_between_a_crowd_nobody_is_set_apart() -> None:
    known = {
        str(number): NameRow(frozenset({str(number)}), is_speaker=True) for number in range(70)
    }

    assert named_groups(NameMatch(words=(), names=tuple(known)), known) == ()


def test_several_names_may_be_of_one() -> None:
    known = {
        "ann": NameRow(frozenset({"ann", "ann lee"}), is_speaker=True),
        "ann lee": NameRow(frozenset({"ann lee"}), is_speaker=True),
        "ben": NameRow(frozenset({"ben"}), is_speaker=True),
    }

    both = named_groups(NameMatch(words=(), names=("ann", "ben", "ann lee")), known)
    one = named_groups(NameMatch(words=(), names=("ann", "ann lee")), known)

    assert set(both) == {frozenset({"ann", "ann lee"}), frozenset({"ben"})}
    assert one == ()


def test_what_another_said_is_heard_of_where_who_is_named_was() -> None:
    other: dict[str, Any] = {"concern": "other", "is_by_named_speaker": False}
    mentioned: dict[str, Any] = {"concern": "mentioned", "is_by_named_speaker": False}
    found = candidates(
        [
            said(1, "spoke"),
            said(2, "spoke", **other),
            said(3, "mentions", **mentioned),
            said(4, "mentions", **other),
            said(5, "elsewhere", **other),
            said(6, "kept", is_turn=False),
            said(7, "kept", **other),
            said(8, None, **(other | {"is_turn": False})),
        ]
    )

    assert find_unrelated_turns(found) == {5, 7}
