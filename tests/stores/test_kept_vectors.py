"""Vectors that a process keeps: whatever is added and taken out, the nearest are those of looking at each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.stores.postgres.kept_vectors import KeptVectors, bytes_of
from tests.stores.kept_samples import whole

DIMENSIONS = 8
OFF = 1e-4  # of a cosine: more than two bytes a number leave out
NUMBERS = st.lists(st.integers(1, 30), min_size=1, max_size=6, unique=True)
CHANGES = st.lists(st.tuples(st.sampled_from(["add", "drop"]), NUMBERS), max_size=30)


def vector(seed: int) -> Any:
    made = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return (made / np.linalg.norm(made)).astype(np.float16)


def cosine(one: Any, other: Any) -> float:
    return float(one.astype(np.float32) @ other.astype(np.float32))


@given(CHANGES, st.integers(1, 40))
def test_the_nearest_are_those_that_are_there(
    changes: list[tuple[str, list[int]]], limit: int
) -> None:
    held = whole(DIMENSIONS)
    there: dict[int, Any] = {}
    gone: set[int] = set()
    asked = vector(7)
    for step, (change, numbers) in enumerate(changes):
        if change == "add":
            added = {number: vector(100 * step + number) for number in numbers}
            held.add(np.array(numbers), np.stack(list(added.values())))
            there |= added
            gone -= added.keys()
        else:
            held.drop(numbers)
            there = {number: one for number, one in there.items() if number not in numbers}
            gone |= set(numbers)

        near = held.nearest(asked, limit=limit)

        cosines = {number: cosine(one, asked) for number, one in there.items()}
        best = sorted(cosines.values(), reverse=True)[:limit]
        assert [*near.values()] == pytest.approx(best, abs=OFF)
        assert near == pytest.approx({number: cosines[number] for number in near}, abs=OFF)
        assert held.nearest(asked, limit=limit) == near
        assert [*held.nearest(asked, limit=1)] == [*near][:1]
    assert len(held) == len(there)
    assert held.lacking == gone
    assert held.bytes >= bytes_of(len(there), DIMENSIONS)


def test_of_those_that_are_as_near_the_newest_are_told() -> None:
    held, one = whole(DIMENSIONS), vector(1)

    held.add(np.arange(1, 8), np.stack([one] * 7))

    assert list(held.nearest(one, limit=3)) == [7, 6, 5]


@pytest.mark.parametrize("spread", [1, 0.03], ids=["apart", "much alike"])
def test_the_nearest_of_many_are_as_if_each_had_been_compared_as_it_is(spread: float) -> None:
    chance = np.random.default_rng(3)
    made = chance.normal(size=256) + spread * chance.normal(size=(5000, 256))
    vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)
    held = whole(256)
    held.add(np.arange(len(vectors)), vectors)
    asked = vectors[17]

    near = held.nearest(asked, limit=100)

    cosines = vectors.astype(np.float32) @ asked.astype(np.float32)
    assert len(near) == 100
    assert min(near.values()) >= np.sort(cosines)[-100] - 1e-6
    assert np.allclose(list(near.values()), cosines[list(near)], atol=1e-6)


@pytest.mark.parametrize("asks", ["the same", "nothing", "one number"])
def test_where_all_say_the_same_the_newest_are_told(asks: str) -> None:
    one = np.full(DIMENSIONS, DIMENSIONS**-0.5, dtype=np.float16)
    held = whole(DIMENSIONS)
    held.add(np.arange(20_000), np.tile(one, (20_000, 1)))
    first = np.eye(DIMENSIONS, dtype=np.float16)[0]
    asked = {"the same": one, "nothing": 0 * one, "one number": first}[asks]

    near = held.nearest(asked, limit=3)

    assert [*near] == [19_999, 19_998, 19_997]
    assert [*near.values()] == pytest.approx([cosine(one, asked)] * 3, abs=OFF)


def test_vectors_of_one_large_number_and_of_none_are_found_as_others_are() -> None:
    chance = np.random.default_rng(5)
    made = chance.normal(size=(2060, 256))
    made[np.arange(2000), chance.integers(256, size=2000)] = 40
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    made[:2000:50] = 0
    vectors = made.astype(np.float16)
    held = whole(256)
    held.add(np.arange(2000), vectors[:2000])

    for asked in (*vectors[:60], *vectors[2000:]):
        near = held.nearest(asked, limit=50)

        cosines = vectors[:2000].astype(np.float32) @ asked.astype(np.float32)
        assert [*near.values()] == pytest.approx(np.sort(cosines)[::-1][:50].tolist(), abs=OFF)


@given(st.integers(1, 5), st.lists(NUMBERS, max_size=12), st.sets(st.integers(1, 20)))
def test_what_is_read_in_pieces_is_in_the_end_what_is_there(
    piece: int, changes: list[list[int]], bare: set[int]
) -> None:
    """Between pieces entries change, and come; some have no vector until all else has been read."""
    there = {number: vector(number) for number in range(1, 21) if number not in bare}
    held = KeptVectors(DIMENSIONS, piece=piece)
    for step in range(40):
        lacked = sorted(held.lacking & there.keys())
        held.complete(
            read(there, lacked) if held.lacking else None,
            read(there, following(there, held)) if held.read_to is not None else None,
            bare=bare,
        )
        if step < len(changes):
            there |= {number: vector(100 * step + number) for number in changes[step]}
            bare -= there.keys()
            held.drop(changes[step])
        elif bare and held.read_to is None:
            there |= {number: vector(number) for number in bare}
            held.drop(bare)
            bare = set()

    asked = vector(7)
    cosines = {number: cosine(one, asked) for number, one in there.items()}
    assert held.is_whole
    assert held.nearest(asked, limit=100) == pytest.approx(cosines, abs=OFF)


def read(there: Mapping[int, Any], numbers: Sequence[int]) -> Any:
    vectors = [there[number] for number in numbers]
    return np.array(numbers, np.int64), np.array(vectors, np.float16).reshape(-1, DIMENSIONS)


def following(there: Mapping[int, Any], held: KeptVectors) -> list[int]:
    return sorted(number for number in there if number > (held.read_to or 0))[: held.piece]
