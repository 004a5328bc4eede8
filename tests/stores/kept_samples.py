"""What a process keeps, for tests."""

import numpy as np

from mnestic.stores.postgres.kept_vectors import KeptVectors


def whole(dimensions: int) -> KeptVectors:
    """Vectors of a memory that has none yet, all of which have been read."""
    held = KeptVectors(dimensions)
    none = np.zeros(0, np.int64), np.zeros((0, dimensions), np.float16)
    held.complete(None, none, bare=())
    return held
