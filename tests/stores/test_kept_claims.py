"""What a process keeps of claims and facts: what is told of each, and how much memory that takes."""

import math
import sys
import tracemalloc

from mnestic.stores.postgres.kept_claims import KeptClaims, Said

ANY = frozenset[str]()


def test_what_ends_or_takes_back_something_claims_nothing_that_could_hold() -> None:
    kept = KeptClaims()
    kept.claim(
        [
            ("a", "1", [("mara", "lives_in", 9.0), ("mara", "likes", None)]),
            ("a", "2", [("mara", "likes", None)]),
            ("a", "3", [("mara", "lives_in", "-Infinity"), ("bo", "likes", "Infinity")]),
        ]
    )

    over = {one: kept.is_over(("a", one), ANY, now=5.0) for one in "1234"}
    later = {one: kept.is_over(("a", one), ANY, now=10.0) for one in "1234"}
    by_home = {one: kept.is_over(("a", one), frozenset({"lives_in"}), now=5.0) for one in "13"}

    assert over == {"1": False, "2": False, "3": False, "4": False}
    assert later == {"1": True, "2": False, "3": False, "4": False}
    assert by_home == {"1": False, "3": True}
    assert kept.is_of_others(("a", "2"), {"bo"}, {"likes"})  # whatever it claims of it
    assert not kept.is_of_others(("a", "3"), {"bo"}, {"likes"})
    assert not kept.is_of_others(("a", "1"), {"bo"}, {"works_at"})


def test_what_is_believed_was_said_last_by_the_message_that_is_told_first() -> None:
    kept = KeptClaims()
    kept.believe(
        [
            ("mara", "likes", 3.0, "Infinity", "f3", "multi", [("a", "3"), ("a", "1")]),
            ("mara", "likes", 1.0, "Infinity", "f1", "multi", [("a", "1")]),
            ("bo", "likes", 2.0, "Infinity", "f2", "multi", [("a", "2")]),
            ("bo", "lives_in", 9.0, 10.0, "f9", "single", [("a", "9")]),
        ]
    )

    def said(*predicates: str, now: float = 5.0, limit: int = 9) -> list[tuple[str, str | None]]:
        told = kept.said(["mara", "bo"], predicates, now=now, limit=limit)
        return [(one.id, one.source_id) for one in told]

    assert said("likes") == [("f3", "3"), ("f3", "1"), ("f2", "2"), ("f1", "1")]
    assert said("likes", limit=2) == [("f3", "3"), ("f3", "1")]
    assert said("likes", "lives_in", limit=1) == [("f9", "9")]
    assert said("lives_in", now=10.0) == []
    assert kept.said(["bo"], ["lives_in"], now=9.0, limit=1) == [
        Said("bo", "lives_in", "single", "f9", "a", "9")
    ]


def test_it_tells_how_much_memory_it_takes() -> None:
    tracemalloc.start()
    kept = KeptClaims()
    kept.claim(
        (f"session {number}", f"source {number}", [(f"name {number}", "likes", math.inf)] * 2)
        for number in range(5000)
    )
    kept.believe(
        (
            f"name {number}",
            "likes",
            float(number),
            math.inf,
            f"fact {number}",
            "multi",
            [("s", f"source {number}")],
        )
        for number in range(5000)
    )
    kept.name(f"name {number}" for number in range(5000))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sys.getsizeof(kept)

    assert 0.7 * taken < kept.bytes < 1.5 * taken
