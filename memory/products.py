"""Products of matrices on the core that asks for them; others would only wait for it, busily."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController


def product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of a matrix with another, or with a vector."""
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(left @ right)


@cache
def _blas() -> Any:
    return ThreadpoolController()
