"""How values cross Temporal: as pydantic's JSON; what cannot be read among several is refused, and errors quote no memory.

The client, the worker and the Replayer must agree on it.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.exceptions import ApplicationError

from mnestic.activities.failures import EncodedFailureConverter, MnesticFailureConverter


class _PayloadConverter(PydanticPayloadConverter):
    def from_payloads(
        self, payloads: Sequence[Payload], type_hints: list[type] | None = None
    ) -> list[Any]:
        """Reads values.

        Several that no signature fits were sent by a stranger. Where one of them cannot be read, the SDK would
        fail a workflow that is started with them again and again; after this error it fails once.
        """
        try:
            return super().from_payloads(payloads, type_hints)
        except Exception:
            if type_hints is not None or len(payloads) < 2:  # noqa: PLR2004 - several
                raise
        why = f"{len(payloads)} values were sent, of which one cannot be read"
        raise ApplicationError(why, type="InvalidInputError", non_retryable=True)


def data_converter(codec: PayloadCodec | None, *, encodes_failures: bool) -> DataConverter:
    """How values cross; with a codec, `encodes_failures` hands it the texts of failures too."""
    failures = EncodedFailureConverter if encodes_failures else MnesticFailureConverter
    return dataclasses.replace(
        pydantic_data_converter,
        payload_converter_class=_PayloadConverter,
        payload_codec=codec,
        failure_converter_class=failures,
    )
