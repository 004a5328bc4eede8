"""Decodes events and descriptions of Temporal's API with the codec of payloads.

The SDK decodes results and errors, but not these.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client

from mnestic.starter.payloads.codec import is_encrypted

ProtoMessage = TypeVar("ProtoMessage", bound=Message)


async def decoded(message: ProtoMessage, temporal: Client) -> ProtoMessage:
    """A message of Temporal, in which all payloads are decrypted and failures have their texts.

    Raises:
        PayloadKeyError: a key is missing.
    """
    inside = list(_inside(message))
    sealed = [one for one in inside if isinstance(one, Payload) and is_encrypted(one)]
    codec = temporal.data_converter.payload_codec
    if sealed and codec is not None:
        for payload, plain in zip(sealed, await codec.decode(sealed), strict=True):
            payload.CopyFrom(plain)
    for one in inside:
        if isinstance(one, Failure) and one.HasField("encoded_attributes"):
            _put_texts(one)
    return message


def _inside(message: Message) -> Iterator[Message]:
    """A message and all messages in it."""
    yield message
    if isinstance(message, Payload):
        return
    for field, value in message.ListFields():
        for each in _each(field, value):
            if isinstance(each, Message):
                yield from _inside(each)


def _each(field: FieldDescriptor, value: Any) -> Iterable[Any]:
    """The values of a field."""
    if not field.is_repeated:
        return (value,)
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    found: Iterable[Any] = value.values() if is_map else value
    return found


def _put_texts(failure: Failure) -> None:
    """Puts the message and the stack trace where they stand without a codec."""
    try:
        texts = json.loads(failure.encoded_attributes.data)
    except ValueError:
        return  # of another converter, or of a key that is not there
    if isinstance(texts, dict):
        failure.message = str(texts.get("message", failure.message))
        failure.stack_trace = str(texts.get("stack_trace", ""))
