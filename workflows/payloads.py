"""How values cross Temporal: as pydantic's JSON; what cannot be read among several is refused, and errors quote no memory.

The client, the worker and the Replayer must agree on it.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    PayloadCodec,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError

from mnestic.activities.failures import EncodedFailureConverter, MnesticFailureConverter


class _Refusing(CompositePayloadConverter):
    """What any converter of payloads gets, ours or that of another plugin's."""

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


class _PayloadConverter(_Refusing, PydanticPayloadConverter):
    pass


def data_converter(
    codec: PayloadCodec | None, *, encodes_failures: bool
) -> Callable[[DataConverter | None], DataConverter]:
    """How values cross; with a codec, `encodes_failures` hands it the texts of failures too.

    Given is the converter of plugins that are named before ours, whose values go on crossing as they want it.
    """
    failures = EncodedFailureConverter if encodes_failures else MnesticFailureConverter

    def converted(given: DataConverter | None) -> DataConverter:
        given = given or DataConverter.default
        return dataclasses.replace(
            given,
            payload_converter_class=_refusing(given.payload_converter_class),
            payload_codec=codec or given.payload_codec,
            failure_converter_class=failures,
        )

    return converted


def _refusing(given: type[PayloadConverter]) -> type[PayloadConverter]:
    if given in {DefaultPayloadConverter, PydanticPayloadConverter}:
        return _PayloadConverter
    is_ours = issubclass(given, _Refusing)
    return given if is_ours else type(f"Refusing{given.__name__}", (_Refusing, given), {})
