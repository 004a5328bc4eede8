"""Arrays of `real` as they are sent to Postgres, in binary form: the numbers of vectors.

Every connection must know how to send them before anything has vectors to write.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from psycopg.abc import AdaptContext
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format

_FLOAT_BYTES = 4
_REAL, _REAL_ARRAY = 700, 1021  # what Postgres calls these types in every database


def register_reals(adapters: AdaptersMap) -> None:
    """Has connections send what `reals_of` makes."""
    adapters.register_dumper(_Reals, _RealsDumper)


def reals_of(vectors: Sequence[bytes]) -> dict[str, Any]:
    """Vectors of one length as values of a statement: `vectors`, all numbers one after the other, and their `dimensions`."""
    dimensions = len(vectors[0]) // _FLOAT_BYTES if vectors else 0
    return {"vectors": _Reals(b"".join(vectors)), "dimensions": dimensions}


class _Reals:
    """Numbers as Postgres receives an array of `real`, in binary form.

    Source: array_recv and float4recv of Postgres.
    """

    def __init__(self, numbers: bytes) -> None:
        values = np.frombuffer(numbers, dtype="<f4")
        is_empty = not len(values)
        head = [0, 0, _REAL] if is_empty else [1, 0, _REAL, len(values), 1]
        body = np.empty(len(values), dtype=[("size", ">i4"), ("value", ">f4")])
        body["size"], body["value"] = _FLOAT_BYTES, values
        self.content = np.array(head, dtype=">i4").tobytes() + body.tobytes()


class _RealsDumper(Dumper):
    format = Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = _REAL_ARRAY

    def dump(self, obj: _Reals) -> bytes:
        return obj.content
