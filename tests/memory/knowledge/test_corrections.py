"""Corrections: what is believed once somebody has put right what was said."""

import pytest

from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.resolution import resolve
from tests.memory.knowledge.fact_claims import PREDICATES, claim, day


def of_message(name: str, *values: str, corrects: str | None = None) -> list[Claim]:
    """What one message claims."""
    source = ClaimSource(extractor="test", session_id="s", source_id=name, corrects=corrects)
    kind = "corrected" if corrects else "affirmed"
    return [claim(int(name[1:]), value, kind, source=source) for value in values]


@pytest.mark.parametrize(
    ("claims", "active"),
    [
        ([*of_message("m1", "tea", "maps"), *of_message("m2", "tea", "chess", corrects="m1")], {"tea", "chess"}),
        ([*of_message("m1", "tea"), *of_message("m2", "maps"), *of_message("m3", "chess", corrects="m2")], {"tea", "chess"}),
        ([*of_message("m1", "tea"), *of_message("m2", "tea"), *of_message("m3", "chess", corrects="m1")], {"chess"}),
        ([*of_message("m1", "tea"), *of_message("m2", "chess", corrects="m9")], {"tea", "chess"}),
        ([*of_message("m1", "tea"), *of_message("m2", "chess", corrects="m1"), *of_message("m3", "tea")], {"tea", "chess"}),
    ],
)  # fmt: skip
def test_a_correction_of_a_message_takes_back_what_that_said(
    claims: list[Claim], active: set[str]
) -> None:
    facts = resolve(reversed(claims), owner="o", predicate=PREDICATES["multi"])

    assert {fact.object for fact in facts if fact.status == "active"} == active
    assert {fact.end for fact in facts if fact.status == "archived"} <= {"corrected"}


@pytest.mark.parametrize(
    ("correction", "began"),
    [
        (claim(3, "Ghent", "corrected"), 2),
        (claim(3, "Ghent", "corrected", valid_from=day(2.5)), 2.5),
        (claim(3, "Ghent", "corrected", valid_to=day(9)), 2),
    ],
    ids=["undated", "dated", "until a day"],
)
def test_a_correction_without_a_day_was_so_since_what_it_corrects(
    correction: Claim, began: float
) -> None:
    claims = [claim(1, "Utrecht"), claim(2, "Genk"), correction]

    utrecht, genk, ghent = resolve(claims, owner="o", predicate=PREDICATES["single"])

    assert (utrecht.valid_to, genk.valid_to) == (ghent.valid_from, genk.valid_from)
    assert (ghent.valid_from, ghent.supersedes) == (day(began), genk.id)


def test_a_correction_of_an_earlier_message_leaves_what_came_after_it() -> None:
    claims = [*of_message("m1", "Genk"), *of_message("m2", "Ghent"), *of_message("m3", "Gent", corrects="m1"), *of_message("m4", "Geel", corrects="m1")]  # fmt: skip

    genk, ghent, gent, geel = resolve(claims, owner="o", predicate=PREDICATES["single"])

    assert (genk.end, gent.end, ghent.status) == ("corrected", "corrected", "active")
    assert (geel.valid_from, geel.valid_to, geel.superseded_by) == (day(1), day(2), ghent.id)


def test_a_correction_that_ends_before_what_it_corrects_begins_when_it_is_said() -> None:
    claims = [
        claim(1, "Genk", valid_from=day(90)),
        claim(2, "Ghent", "corrected", valid_to=day(30)),
    ]

    _, ghent = resolve(claims, owner="o", predicate=PREDICATES["single"])

    assert (ghent.valid_from, ghent.valid_to) == (day(2), day(30))


def test_a_correction_that_names_the_wrong_value_leaves_what_was_so_before_it() -> None:
    claims = [
        claim(1, "Utrecht"),
        claim(2, "Ghent"),
        claim(3, "Ghent", "retracted"),
        claim(3, "Genk", "corrected"),
    ]

    utrecht, ghent, genk = resolve(claims, owner="o", predicate=PREDICATES["single"])

    assert (utrecht.end, utrecht.valid_to, ghent.end) == ("superseded", day(2), "corrected")
    assert (genk.status, genk.valid_from) == ("active", day(2))
