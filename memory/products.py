"""Products of matrices on the core that asks for them; others would only wait for it, busily."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

_AT_ONCE = 512  # rows


def product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of a matrix with another, or with a vector."""
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(left @ right)


def product_of_bytes(left: NDArray[np.int8], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of a matrix of small numbers with a vector, as exact as if it were of floats.

    A part after the other becomes floats, so that these stay in the processor's cache: it takes less time than
    a matrix of floats, whose fourfold memory would be read instead.
    """
    found = np.empty(len(left), dtype=np.float32)
    part = np.empty((_AT_ONCE, left.shape[1]), dtype=np.float32)
    with _blas().limit(limits=1, user_api="blas"):
        for first in range(0, len(left), _AT_ONCE):
            rows = left[first : first + _AT_ONCE]
            part[: len(rows)] = rows
            np.dot(part[: len(rows)], right, out=found[first : first + len(rows)])
    return found


@cache
def _blas() -> Any:
    return ThreadpoolController()
