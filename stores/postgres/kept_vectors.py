"""Vectors of an agent's entries as a process keeps them, all of which are looked at.

That takes a fraction of what it takes Postgres to look at as many rows.
"""

import math
from collections.abc import Collection
from typing import Any

import numkong
import numpy as np
from numpy.typing import NDArray

PIECE = 8192  # vectors that one question waits for, some 50 ms, so that later ones find all in the process
MOST_LACKING = 1000  # entries; of more it is quicker to read all anew
_FINER = np.float32(1 / 256)  # what the second byte of a number counts, in units of the first
_LARGEST = 127  # of a first byte
_SMALLEST = np.float32(1e-9)  # that the largest number of a vector is taken for
_AT_ONCE = 256  # vectors that are taken apart at once, so that they stay in the processor's cache
# Standard deviations of what the first bytes alone leave out of a cosine, which is as if by chance: each number is off
# by up to half a unit. Source: Widrow, A Study of Rough Amplitude Quantization, 1956.
_SURE = 6
_SPARE = 1000  # entries that there is place for at most, where it grows

Read = tuple[NDArray[np.int64], NDArray[np.float16]]  # vectors by the numbers of their entries


class KeptVectors:
    """The vectors of one agent and model: a row an entry, in no order.

    Each number has two bytes, in two matrices `(entries, dimensions)` int8, and each vector a scale: a question looks at
    the first byte of all, half of what there is to read, and at both of the few that may be near. Of vectors that are
    made for it, with all numbers rounded the same way, one that is near may be missed.

    They are read by the numbers of their entries, a piece after the other, up to `read_to`; None: all are. `lacking`
    are those before it whose vectors are not here: they have none, or it is not known that it is the same.
    """

    def __init__(self, dimensions: int, *, places: int = 0, piece: int = PIECE) -> None:
        """Prepares it.

        Args:
            dimensions: The length of each vector.
            places: How many there will be, as far as is known.
            piece: How many are read at once.
        """
        self.lacking: set[int] = set()
        self.read_to: int | None = 0
        self.piece = piece
        self._count = 0
        self._numbers = np.zeros(places, dtype=np.int64)
        self._scales = np.zeros(places, dtype=np.float32)
        self._coarse = np.zeros((places, dimensions), dtype=np.int8)
        self._fine = np.zeros((places, dimensions), dtype=np.int8)
        self._limit = 0
        self._last: tuple[tuple[bytes, int], dict[int, float]] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._coarse.shape[1]

    @property
    def is_whole(self) -> bool:
        """Whether all are here."""
        return self.read_to is None and not self.lacking

    @property
    def lacks_most(self) -> bool:
        """Whether so many are not here that it is not worth its place."""
        return len(self.lacking) > MOST_LACKING

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return bytes_of(len(self._numbers), self.dimensions)

    def add(self, numbers: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        """Takes vectors in by the numbers of their entries, in the place of those that it has."""
        self.drop(numbers.tolist())
        first, last = self._count, self._count + len(numbers)
        if last > len(self._numbers):
            self._grow(last + (_spare(last) if first else 0))
        self._numbers[first:last] = numbers
        for begin in range(0, len(numbers), _AT_ONCE):
            some = vectors[begin : begin + _AT_ONCE]
            at = slice(first + begin, first + begin + len(some))
            self._scales[at], self._coarse[at], self._fine[at] = _parts(some)
        self._count = last
        self.lacking.difference_update(numbers.tolist())

    def complete(
        self, lacked: Read | None, following: Read | None, *, bare: Collection[int]
    ) -> None:
        """Takes in what was lacking, and the next of those that had not been read, as far as they are there.

        Args:
            lacked: By the numbers of their entries; None if nothing was lacking.
            following: By numbers that rise from `read_to`, of a piece; None if all have been read.
            bare: Entries that had no vector a moment ago.
        """
        if following is not None:
            numbers, vectors = following
            self.read_to = int(numbers[-1]) if len(numbers) == self.piece else None
            self.add(numbers, vectors)
        # What was lacking and is not told now, though it should have a vector, is gone, or is heard of yet.
        self.lacking.clear()
        self._lack(bare)
        if lacked is not None:
            self.add(*lacked)

    def drop(self, numbers: Collection[int]) -> None:
        """Takes out those of entries that have changed, or are gone."""
        self._lack(numbers)
        self._last = None
        dropped = np.isin(self._numbers[: self._count], np.fromiter(numbers, np.int64))
        for place in np.flatnonzero(dropped)[::-1].tolist():
            self._count -= 1  # its place is the last one's now
            for rows in self._rows():
                rows[place] = rows[self._count]

    def nearest(self, vector: NDArray[np.float16], *, limit: int) -> dict[int, float]:
        """The entries with the largest cosines, with those; among equal ones the newest.

        Who asks the same again is told the same one, which nobody is to change.
        """
        if not self._count:
            return {}
        question, self._limit = (vector.tobytes(), limit), limit
        if self._last is None or self._last[0] != question:
            self._last = question, self._nearest(vector, limit=limit)
        return self._last[1]

    def foresee(self, vector: NDArray[np.float16]) -> None:
        """Has at hand what is nearest to a vector, as many as were asked for last."""
        if self._limit:
            self.nearest(vector, limit=self._limit)

    def _nearest(self, vector: NDArray[np.float16], *, limit: int) -> dict[int, float]:
        near, asked = self._may_be_near(vector, limit=limit), vector.astype(np.float32)
        # There are many where all say the same.
        pieces = np.array_split(near, 1 + len(near) // PIECE)
        cosines = np.concatenate([self._cosines(piece, asked) for piece in pieces])
        numbers = self._numbers[near]
        order = np.lexsort((numbers, cosines))[::-1][:limit]
        return dict(zip(numbers[order].tolist(), cosines[order].tolist(), strict=True))

    def _cosines(self, places: NDArray[np.intp], asked: NDArray[np.float32]) -> NDArray[np.float64]:
        """Those of the vectors at some places, by all that is kept of them; of equal vectors they are equal."""
        vectors = self._coarse[places] + _FINER * self._fine[places]
        products = numkong.cdist(vectors, asked[None], "dot")
        return np.asarray(products).ravel() * self._scales[places]

    def _may_be_near(self, vector: NDArray[np.float16], *, limit: int) -> NDArray[np.intp]:
        """The places of those that may be among so many with the largest cosines, by the first byte of each number."""
        if limit >= self._count:
            return np.arange(self._count)
        scales = self._scales[: self._count]
        (scale,), asked = _scaled(vector[None])
        products = numkong.cdist(self._coarse[: self._count], _bytes(asked), "dot")
        rough = np.asarray(products, dtype=np.float32).ravel() * scales  # in units of the question
        least = np.partition(rough, self._count - limit)[self._count - limit]
        off = math.hypot(scale, scales.max()) / math.sqrt(12)
        return np.flatnonzero(rough >= least - _SURE * off / scale)

    def _lack(self, numbers: Collection[int]) -> None:
        """Notes that these are not here; of those that are yet to be read that is known."""
        read_to = self.read_to
        self.lacking.update(one for one in numbers if read_to is None or one <= read_to)

    def _grow(self, places: int) -> None:
        more = places - len(self._numbers)
        self._numbers = np.pad(self._numbers, (0, more))
        self._scales = np.pad(self._scales, (0, more))
        self._coarse = np.pad(self._coarse, ((0, more), (0, 0)))
        self._fine = np.pad(self._fine, ((0, more), (0, 0)))

    def _rows(self) -> tuple[NDArray[Any], ...]:
        return self._numbers, self._scales, self._coarse, self._fine


def _parts(
    vectors: NDArray[np.float16],
) -> tuple[NDArray[np.float32], NDArray[np.int8], NDArray[np.int8]]:
    """The scale of each vector, and the first and the second byte of each number."""
    scales, numbers = _scaled(vectors)
    coarse = _bytes(numbers)
    return scales, coarse, _bytes(((numbers - coarse) / _FINER).clip(-128, _LARGEST))


def _scaled(vectors: NDArray[np.float16]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A scale for each vector, with which its largest number is the largest that a byte holds; and its numbers by that."""
    numbers = vectors.astype(np.float32)
    scales = np.maximum(np.abs(numbers).max(axis=1), _SMALLEST) / np.float32(_LARGEST)
    return scales, numbers / scales[:, None]


def _bytes(numbers: NDArray[np.float32]) -> NDArray[np.int8]:
    return np.rint(numbers).astype(np.int8)


def bytes_to_grow(vectors: int, dimensions: int) -> int:
    """How much memory so many vectors take, once there are more of them."""
    return bytes_of(vectors + _spare(vectors), dimensions)


def bytes_of(vectors: int, dimensions: int) -> int:
    """How much memory so many vectors take, each with its number."""
    return vectors * (2 * dimensions + 12)


def _spare(vectors: int) -> int:
    return min(vectors // 8, _SPARE)
