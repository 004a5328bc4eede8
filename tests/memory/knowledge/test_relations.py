"""Which entries are related: a function of what was said, however it came."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.relations import (
    MOST_RELATED,
    Mention,
    Place,
    Related,
    related_messages,
)

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PREDICATES = {name: default_predicate(name) for name in ("lives_in", "likes")}


def mention(number: int, value: str | None, predicate: str = "lives_in") -> Mention:
    return Mention("mara", predicate, value, NOON + timedelta(days=number), ("s1", f"m{number}"))


def related(*mentions: Mention, learned: set[Place] | None = None) -> dict[str, list[str]]:
    places = {one.place for one in mentions} if learned is None else learned
    found = related_messages(mentions, predicates=PREDICATES, learned=places)
    return {
        source_id: [one.place[1] for one in sorted(latest)]
        for (_, source_id), latest in sorted(found.items())
    }


def test_what_supersedes_or_confirms_is_related_to_what_was_said_before() -> None:
    found = related(mention(1, "utrecht"), mention(2, "ghent"), mention(3, "ghent"))

    assert found == {"m2": ["m1"], "m3": ["m1", "m2"]}


def test_one_object_among_many_is_related_to_the_same_alone() -> None:
    tea, coffee = mention(1, "tea", "likes"), mention(2, "coffee", "likes")

    found = related(tea, coffee, mention(3, "tea", "likes"))

    assert found == {"m3": ["m1"]}


def test_what_ends_all_there_was_is_related_to_all_of_it() -> None:
    tea, coffee = mention(1, "tea", "likes"), mention(2, "coffee", "likes")

    found = related(tea, coffee, mention(3, None, "likes"), mention(4, "tea", "likes"))

    assert found == {"m3": ["m1", "m2"], "m4": ["m1", "m3"]}


def test_an_end_is_related_to_what_it_may_have_ended_and_nothing_to_an_end_of_nothing() -> None:
    known = mention(1, "town library")

    found = related(
        known,
        mention(2, "umbrella")._replace(ends=True),
        mention(3, "library")._replace(ends=True),
        mention(4, "harbour"),
    )

    assert found == {"m3": ["m1"], "m4": ["m1", "m3"]}


def test_a_message_is_not_related_to_itself_and_to_the_latest_few_alone() -> None:
    once, again = mention(0, "ghent"), mention(9, "ghent")

    found = related(*(mention(number, "ghent") for number in range(9)), again, again, once)

    assert found["m9"] == ["m4", "m5", "m6", "m7", "m8"]
    assert "m0" not in found


def test_a_late_message_is_told_to_later_ones_that_are_near_it() -> None:
    mentions = [mention(number, "ghent") for number in range(8)]

    found = related(*mentions, learned={("s1", "m1")})

    assert set(found) == {"m1", "m2", "m3", "m4", "m5", "m6"}


_MENTIONS = st.lists(
    st.builds(
        mention,
        st.integers(0, 12),
        st.sampled_from(["ghent", "utrecht", None]),
        st.sampled_from(["lives_in", "likes"]),
    ),
    max_size=20,
)


@given(_MENTIONS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_neither_order_nor_batches_change_what_is_related(
    mentions: list[Mention], chance: object, size: int
) -> None:
    """As entries keep it: the latest of all that a message was ever told to be related to."""
    by_place: dict[Place, list[Mention]] = {}
    for one in mentions:
        by_place.setdefault(one.place, []).append(one)
    places = sorted(by_place)
    chance.shuffle(places)  # type: ignore[attr-defined]
    known: list[Mention] = []
    kept: dict[Place, set[Related]] = {}
    for start in range(0, len(places), size):
        batch = places[start : start + size]
        known += [one for place in batch for one in by_place[place]]
        told = related_messages(known, predicates=PREDICATES, learned=set(batch))
        for place, found in told.items():
            latest = sorted(kept.get(place, set()) | found, reverse=True)
            kept[place] = set(latest[:MOST_RELATED])

    wanted = related_messages(mentions, predicates=PREDICATES, learned=set(places))
    assert kept == {
        place: set(sorted(found, reverse=True)[:MOST_RELATED]) for place, found in wanted.items()
    }
