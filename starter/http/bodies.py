"""Bodies of requests: each is read whole within a deadline, and its size and depth are known before anything parses it.

Whatever parses a body, of a route, a form or MCP, does so on the event loop: what would block it is refused here, in
one place.
"""

import asyncio
import json
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from mnestic.starter.json_structure import brackets_of, levels_of, longest_number, without_escapes

MOST_FORM_BYTES, MOST_FIELDS = 2**19, 1000  # of a form, which is parsed in Python
MOST_VALUES, DEEPEST, MOST_DIGITS = 20_000, 64, 400  # of a JSON document, and of a number in it
_LARGE = 2**16  # bytes; a larger body is looked at in a thread
_FIELDS = "application/x-www-form-urlencoded"
_FORMS = frozenset({_FIELDS, "multipart/form-data"})


async def read_body(
    request: Request, receive: Receive, *, within_s: float, most_bytes: int
) -> Receive:
    """Reads a body, and returns what gives it once more.

    Args:
        request: The request.
        receive: Gives its parts.
        within_s: How long it may take, in seconds.
        most_bytes: How large it may be; a form is smaller.

    Raises:
        HTTPException: it is too large, too deep or too slow.
    """
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    is_form = kind in _FORMS
    try:
        async with asyncio.timeout(within_s):
            last, body = await _receive_all(
                receive, most=MOST_FORM_BYTES if is_form else most_bytes
            )
    except TimeoutError:
        why = f"the body did not come within {within_s:g} s"
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, why, {"Connection": "close"}) from None
    if kind == _FIELDS and body.count(b"&") >= MOST_FIELDS:
        raise _too_large(f"the form has more than {MOST_FIELDS} fields")
    if not is_form and len(body) > _LARGE:
        await asyncio.to_thread(_check_structure, body)
    elif not is_form:
        _check_structure(body)
    if not body and not is_form:  # an absent body is one without members
        body = b"{}"
        MutableHeaders(scope=request.scope)["Content-Type"] = "application/json"
    ahead = [{**last, "body": body} if last["type"] == "http.request" else last]

    async def replay() -> Message:
        return ahead.pop() if ahead else await receive()

    return replay


async def _receive_all(receive: Receive, *, most: int) -> tuple[Message, bytes]:
    """The last message of a request, and the body of all."""
    parts, size, is_more = list[bytes](), 0, True
    while is_more:
        message = await receive()
        is_more = message.get("more_body", False)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(f"the body has more than {most} bytes")
    return message, b"".join(parts)


def _check_structure(body: bytes) -> None:
    """Refuses a JSON document of too many values or levels, by its marks outside of texts.

    Raises:
        HTTPException: says what is too much.
    """
    if json.detect_encoding(body) not in {"utf-8", "utf-8-sig"}:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the body is not UTF-8")
    plain = without_escapes(body)
    too_many = f"the body has more than {MOST_VALUES} values"
    if plain.count(b'"') > 4 * MOST_VALUES:  # at most a name and a text for each
        raise _too_large(too_many)
    outside = b"".join(plain.split(b'"')[::2])
    brackets = brackets_of(outside)
    if outside.count(b",") + len(brackets) // 2 > MOST_VALUES:
        raise _too_large(too_many)
    if longest_number(outside) > MOST_DIGITS:
        why = "the body has a number with too many digits"
        raise HTTPException(HTTPStatus.BAD_REQUEST, why)
    highest, _ = levels_of(brackets)
    if highest > DEEPEST:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"the body is nested deeper than {DEEPEST} levels"
        )


def _too_large(why: str) -> HTTPException:
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{why}; send it in parts")
