"""What a failed call to an OpenAI-compatible server means to us.

Retrying is decided here, once, for every client that speaks this API.
"""

import email.utils
import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import openai

from mnestic.memory.errors import MnesticError
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)

# Request timeout, lock conflict, too early, too many: the same request may succeed later.
_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_SERVER_ERRORS = 500
_LONGEST_MESSAGE = 300
_TEXTS = ("messages", "input", "query", "documents")  # the fields of requests that hold them
_NO_TEXT = frozenset({"role", "type"})
_ROW = 4  # words that a message and a text have in common by no accident; or all of a shorter text
_HINTS = {
    401: "check the API key",
    403: "check the API key's rights",
    404: "check the model's name and the base URL",
    405: "check the base URL",
    501: "choose a model or a server that offers this",
}
# llama.cpp calls it a server error (500) when a text to embed does not fit its batch; it never will.
_TOO_LARGE = "too large to process"
# What a refusal names when it is not about what was sent, but about what is asked of this model at all.
_SETTINGS = frozenset({"model", "response_format", "dimensions", "encoding_format"})
_WRONG_SETTINGS = frozenset(
    {
        "invalid_api_key",
        "invalid_model",
        "model_not_found",
        "unknown_parameter",
        "unsupported_parameter",
    }
)


@contextmanager
def translated_failures(*, model: str, api_key: str) -> Iterator[None]:
    """Turn the SDK's errors into ours.

    Args:
        model: The model that was asked, for the message.
        api_key: Masked, should a server's message repeat it.

    Raises:
        ModelUnavailableError: No answer in time, no connection, too many requests, a server error.
        ModelMisconfiguredError: The server refuses every request of this kind.
        ModelRefusedError: The server refused the request as it is.
    """
    try:
        yield
    except openai.APIStatusError as error:
        # Without its cause: a server's full answer may repeat what was sent to it.
        raise _from_status(error, model=model, api_key=api_key) from None
    except (openai.APITimeoutError, TimeoutError) as error:
        raise ModelUnavailableError(model=model, why="no answer in time") from error
    except openai.APIConnectionError as error:
        why = f"no connection ({error.__cause__ or error.message})"
        raise ModelUnavailableError(model=model, why=why) from error


def _from_status(error: openai.APIStatusError, *, model: str, api_key: str) -> MnesticError:
    message, status = _message(error), error.status_code
    message = (message.replace(api_key, "***") if api_key else message)[:_LONGEST_MESSAGE]
    if _repeats(message, error.request.content):
        details = ", ".join(filter(None, [error.type, error.code, error.param]))
        message = f"status {status} ({details or 'no code'}); its message repeats what was sent and is withheld"
    if _may_pass(status, error.message):
        return ModelUnavailableError(
            model=model, why=message, retry_after_s=_retry_after_s(error.response.headers)
        )
    hint = _HINTS.get(status)
    why = f"{message}; {hint}" if hint else message
    is_setting = error.param in _SETTINGS or error.code in _WRONG_SETTINGS
    refused = ModelMisconfiguredError if hint or is_setting else ModelRefusedError
    return refused(model=model, why=why)


def _message(error: openai.APIStatusError) -> str:
    """What a server says: in OpenAI's form, or as `detail`, as FastAPI has it; and which parameter it means."""
    detail = error.body.get("detail") if isinstance(error.body, Mapping) else None
    parts = (error.message, detail, error.param and f"parameter {error.param}")
    return "; ".join(one for one in parts if isinstance(one, str) and one)


def _may_pass(status: int, message: str) -> bool:
    """Whether the same request may succeed later."""
    if status < _SERVER_ERRORS:
        return status in _PASSING_STATUSES
    return status not in _HINTS and _TOO_LARGE not in message


def _repeats(message: str, request: bytes) -> bool:
    """Whether a server's message repeats words in a row of the texts that it was sent."""
    body = json.loads(request or b"{}")
    words = f" {' '.join(_words(message))} "
    sent = _texts([body.get(name) for name in _TEXTS])
    return any(f" {row} " in words for text in sent for row in _rows(_words(text)))


def _texts(value: Any) -> Iterator[str]:
    """The texts in what was sent; the roles of messages are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([each for name, each in value.items() if name not in _NO_TEXT])
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _rows(words: list[str]) -> Iterator[str]:
    """Each few words in a row; of fewer, all."""
    for at in range(max(1, len(words) - _ROW + 1) if words else 0):
        yield " ".join(words[at : at + _ROW])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, as the server asked: `retry-after-ms`, or `retry-after` in seconds or a date.

    Source: RFC 9110, 10.2.3; the milliseconds are OpenAI's own.
    """
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, ""))
        if seconds is not None:
            return max(0.0, seconds / per_second)
    return None


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        date = email.utils.parsedate_tz(value)
        return email.utils.mktime_tz(date) - time.time() if date else None
    return seconds if math.isfinite(seconds) else None
