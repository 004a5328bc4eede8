"""How errors are answered: as problem details (RFC 9457), all of one shape; on pages, in words for a person.

The status follows from the tree of errors once, for all routes.
"""

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mnestic.memory import errors
from mnestic.memory.access.errors import ForbiddenError, UnauthenticatedError
from mnestic.memory.error_texts import describe_error
from mnestic.memory.models.errors import ModelMisconfiguredError
from mnestic.memory.validation import place_in
from mnestic.starter.http.pages.problems import problem_page, wants_page
from mnestic.starter.http.places import place_of
from mnestic.starter.http.values import UNSTORABLE

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 5
_MOST_NAMED, _IN_DETAIL = 20, 3  # values that are refused: in the list, and in the sentence
_LONGEST_VALUE = 80  # characters of a value that is refused
log = logging.getLogger("mnestic.http")
# Why a body could not be read, where it is not by its syntax.
_UNREAD: Mapping[type[BaseException | None], str] = MappingProxyType(
    {
        UnicodeDecodeError: "is not UTF-8",
        ValueError: "has a number with too many digits",
    }
)

# The first that an error is an instance of; subclasses come before their bases.
_STATUSES: Mapping[type[errors.MnesticError], HTTPStatus] = MappingProxyType(
    {
        UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
        ForbiddenError: HTTPStatus.FORBIDDEN,
        errors.NotFoundError: HTTPStatus.NOT_FOUND,
        errors.ForeignTenantError: HTTPStatus.NOT_FOUND,
        errors.AccessDeniedError: HTTPStatus.FORBIDDEN,
        errors.LockedError: HTTPStatus.LOCKED,
        errors.LockLostError: HTTPStatus.CONFLICT,
        errors.EventsTrimmedError: HTTPStatus.GONE,
        errors.PayloadTooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        errors.BudgetExceededError: HTTPStatus.TOO_MANY_REQUESTS,
        errors.AlreadyExistsError: HTTPStatus.CONFLICT,
        errors.StaleRequestError: HTTPStatus.CONFLICT,
        errors.StaleVersionError: HTTPStatus.CONFLICT,
        errors.IdempotencyConflictError: HTTPStatus.CONFLICT,
        errors.AlreadyWaitingError: HTTPStatus.CONFLICT,
        errors.ResumeRefusedError: HTTPStatus.CONFLICT,
        errors.MemoryDriftedError: HTTPStatus.CONFLICT,
        errors.JobEndedError: HTTPStatus.CONFLICT,
        errors.JobFailedError: HTTPStatus.CONFLICT,
        errors.SnapshotCorruptedError: HTTPStatus.CONFLICT,
        errors.SnapshotUnverifiedError: HTTPStatus.CONFLICT,
        errors.MemoryExistsError: HTTPStatus.CONFLICT,
        errors.InUseError: HTTPStatus.CONFLICT,
        # A setting of the server is missing: this server cannot do it.
        errors.ConfigurationError: HTTPStatus.NOT_IMPLEMENTED,
        ModelMisconfiguredError: HTTPStatus.NOT_IMPLEMENTED,
        errors.RefusedError: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
        errors.InvariantError: HTTPStatus.INTERNAL_SERVER_ERROR,
    }
)


class InvalidValue(BaseModel):
    """A value that is refused: where it is, what it is, and what is allowed."""

    path: str = Field(examples=["query.limit"])
    value: str | None = Field(None, examples=["5000"])
    allowed: str = Field(examples=["Input should be less than or equal to 1000"])


class Problem(BaseModel):
    """Why a request was refused or failed (RFC 9457)."""

    type: str = Field(examples=["urn:mnestic:problem:invalid-input"])
    title: str = Field(examples=["A value is malformed."])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["query.limit: Input should be less than or equal to 1000"])
    instance: str = Field(description="The id of the request", examples=["urn:uuid:0d4c…"])
    errors: tuple[InvalidValue, ...] = ()


def status_of(error: errors.MnesticError) -> HTTPStatus:
    """The status of an error, by its place in the tree of errors."""
    return next(status for kind, status in _STATUSES.items() if isinstance(error, kind))


async def answer_error(request: Request, error: Exception) -> Response:
    """Answers an error of ours."""
    assert isinstance(error, errors.MnesticError)
    status = status_of(error)
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        return answer_unexpected(request, error)
    headers: dict[str, str] = {}
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS}:
        seconds = getattr(error, "retry_after_s", None) or RETRY_AFTER_S
        headers["Retry-After"] = str(max(1, round(seconds)))
    invalid: tuple[InvalidValue, ...] = ()
    if isinstance(error, errors.InvalidInputError):
        invalid = (InvalidValue(path=place_of(request, error), allowed=error.why),)
    return _answer(request, status, error, detail=str(error), headers=headers, invalid=invalid)


async def answer_invalid(request: Request, error: Exception) -> Response:
    """Answers a request that does not have the form that its route wants."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    invalid = tuple(map(_invalid, found[:_MOST_NAMED]))
    detail = "; ".join(f"{one.path}: {one.allowed}" for one in invalid[:_IN_DETAIL])
    detail += f"; and {len(found) - _IN_DETAIL} more" if len(found) > _IN_DETAIL else ""
    kind = errors.InvalidInputError(what="request", why=detail)
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, kind, detail=detail, invalid=invalid)


async def answer_http(request: Request, error: Exception) -> Response:
    """Answers what the framework refuses: an unknown path, a wrong method, a body that is too large."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if status < HTTPStatus.BAD_REQUEST:  # it leads elsewhere
        return Response(status_code=status, headers=error.headers)
    unread = _UNREAD.get(type(error.__cause__))
    document = Problem(
        type="about:blank",
        title=status.phrase,
        status=status,
        detail=str(error.detail) if unread is None else f"the body {unread}",
        instance=instance_of(request),
    )
    return _response(request, document, headers=error.headers)


def answer_unexpected(request: Request, error: Exception) -> Response:
    """Answers an error that should not be; its text, which may quote memory, is neither answered nor logged."""
    log.error(
        "a request failed",
        extra={"request": instance_of(request), "error": describe_error(error)},
        exc_info=error,
    )
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    document = Problem(
        type="about:blank",
        title=status.phrase,
        status=status,
        detail="the server failed; its log names this request",
        instance=instance_of(request),
    )
    return _response(request, document)


def instance_of(request: Request) -> str:
    """The id of a request, as problems and logs name it."""
    return f"urn:uuid:{request.scope['state']['request_id']}"


def _answer(
    request: Request,
    status: HTTPStatus,
    error: errors.MnesticError,
    *,
    detail: str,
    headers: Mapping[str, str] | None = None,
    invalid: tuple[InvalidValue, ...] = (),
) -> Response:
    kind = type(error)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__.removesuffix("Error")).lower()
    title = (kind.__doc__ or status.phrase).partition("\n")[0]
    document = Problem(
        type=f"urn:mnestic:problem:{name}",
        title=title,
        status=status,
        detail=detail,
        instance=instance_of(request),
        errors=invalid,
    )
    return _response(request, document, headers=headers)


def _response(
    request: Request, document: Problem, *, headers: Mapping[str, str] | None = None
) -> Response:
    if wants_page(request):
        page = problem_page(
            request, status=document.status, title=document.title, detail=document.detail
        )
        page.headers.update(headers or {})
        return page
    content = document.model_dump(mode="json")
    return JSONResponse(
        content, status_code=document.status, headers=headers, media_type=MEDIA_TYPE
    )


def _invalid(error: Mapping[str, Any]) -> InvalidValue:
    where, *rest = error["loc"]
    if error["type"] == "json_invalid":
        why = f"is no JSON from character {rest[0]} on: {error['ctx']['error']}"
        return InvalidValue(path=where, allowed=why)
    if where == "body" and isinstance(error.get("input"), bytes):
        why = "is not read; send a JSON object, with `Content-Type: application/json`"
        return InvalidValue(path=where, allowed=why)
    within = filter(None, [error["ctx"]["path"]] if error["type"] == UNSTORABLE else [])
    return InvalidValue(
        path=".".join(map(str, (*place_in(error["loc"]), *within))),
        value=_shown(error.get("input")),
        allowed=str(error["msg"]).removeprefix("Value error, "),
    )


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, (dict, list)):
        return None
    text = str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
