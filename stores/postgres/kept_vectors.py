"""Vectors of an agent's entries as a process keeps them, all of which are looked at.

A product of one matrix takes a fraction of what it takes Postgres to look at as many rows.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.products import product

_SPARE = 8  # where it grows, there is place for an eighth more than there is
MOST_LACKING = 1000  # entries; of more it is quicker to read all anew


class KeptVectors:
    """The vectors of one agent and model: a row an entry, in no order, `(entries, dimensions)` float32.

    `lacking` are the entries whose vectors are not here: they have none, or it is not known that it is the same.
    """

    def __init__(self, dimensions: int) -> None:
        """Prepares it.

        Args:
            dimensions: The length of each vector.
        """
        self.lacking: set[int] = set()
        self._places: dict[int, int] = {}
        self._numbers = np.zeros(0, dtype=np.int64)
        self._matrix = np.zeros((0, dimensions), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._matrix.shape[1]

    @property
    def lacks_most(self) -> bool:
        """Whether so many are not here that it is not worth its place."""
        return len(self.lacking) > MOST_LACKING

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return self._matrix.nbytes + bytes_of(len(self._numbers), 0)

    def add(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Takes vectors in by the numbers of their entries, in the place of those that it has."""
        self.drop(numbers.tolist())
        first, last = len(self), len(self) + len(numbers)
        if last > len(self._numbers):
            spare = last - len(self._numbers) + (last // _SPARE if first else 0)
            self._numbers = np.pad(self._numbers, (0, spare))
            self._matrix = np.pad(self._matrix, ((0, spare), (0, 0)))
        self._numbers[first:last], self._matrix[first:last] = numbers, vectors
        self._places.update(zip(numbers.tolist(), range(first, last), strict=True))
        self.lacking.difference_update(numbers.tolist())

    def drop(self, numbers: Iterable[int]) -> None:
        """Takes out those of entries that have changed, or are gone."""
        for number in numbers:
            self.lacking.add(number)
            if (place := self._places.pop(number, None)) is None:
                continue
            last = len(self)
            if place != last:  # its place is the last one's now
                moved = int(self._numbers[last])
                self._numbers[place], self._matrix[place] = moved, self._matrix[last]
                self._places[moved] = place
            self._matrix[last] = 0

    def nearest(self, vector: NDArray[np.float32], *, limit: int) -> dict[int, float]:
        """The entries with the largest cosines, with those; among equal ones the newest."""
        count = len(self)
        cosines = product(self._matrix[:count], vector)
        best = np.arange(count)
        if limit < count:
            least = np.partition(cosines, count - limit)[count - limit]
            best = np.flatnonzero(cosines >= least)
        numbers, cosines = self._numbers[best], cosines[best]
        order = np.lexsort((numbers, cosines))[::-1][:limit]
        return dict(zip(numbers[order].tolist(), cosines[order].tolist(), strict=True))


def bytes_to_grow(vectors: int, dimensions: int) -> int:
    """How much memory so many vectors take, once there are more of them."""
    return bytes_of(vectors + vectors // _SPARE, dimensions)


def bytes_of(vectors: int, dimensions: int) -> int:
    """How much memory so many vectors take."""
    return vectors * (4 * dimensions + 150)  # a row, and its number in an array and a dictionary
