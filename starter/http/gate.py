"""The gate in front of all routes: each request gets an id, a limit and an authenticated key, or goes no further.

Nothing of a request is parsed before its key is verified, and a route that is added later is behind it too: only
`PUBLIC` paths need no key. Pages have rules of their own (`pages/access.py`).
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Collection
from http import HTTPStatus

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.memory.errors import MnesticError
from mnestic.starter.http.bodies import read_body
from mnestic.starter.http.calls import VERSION, tenants_of
from mnestic.starter.http.capacity import Capacity
from mnestic.starter.http.metrics import MetricsOfTenants
from mnestic.starter.http.pages import access as pages
from mnestic.starter.http.problems import answer_error, answer_http, answer_unexpected
from mnestic.starter.tenants import Access

HEALTH, READY = f"{VERSION}/health", f"{VERSION}/health/ready"
_OTHERS = (VERSION, pages.ROOT, pages.REFERENCE, "/mcp", "/openapi.json", *pages.SHORTCUTS)
PUBLIC: Collection[str] = frozenset(
    {HEALTH, READY, "/openapi.json", pages.REFERENCE, *pages.SHORTCUTS}
)
MOST_WITH_KEY, MOST_OF_KEY = 256, 192  # requests at once; more get 503 with Retry-After
MOST_WITHOUT_KEY, MOST_OF_ADDRESS = 64, 32
MOST_AUTHENTICATING = (
    16  # keys that are looked up at once; the pool of connections is for those that are valid
)
BODY_S, BODY_WITHOUT_KEY_S = 30.0, 5.0  # until when a whole body has to be there
MAX_BODY_BYTES, BYTES_WITHOUT_KEY = 8 * 2**20, 2**16
log = logging.getLogger("mnestic.http")


class Gate:
    """ASGI middleware; the state of a request that passes has `request_id`, `is_page`, `is_head` and, but for public paths, `access`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._with_key = Capacity(MOST_WITH_KEY, MOST_OF_KEY)
        self._without_key = Capacity(MOST_WITHOUT_KEY, MOST_OF_ADDRESS)
        self._authenticating = asyncio.Semaphore(MOST_AUTHENTICATING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, is_head = time.monotonic(), 0, scope["method"] == "HEAD"
        scope = {**scope, "path": _current(scope["path"])}
        if is_head:  # answered as GET, without the body
            scope["method"] = "GET"
        state = scope.setdefault("state", {})
        state["request_id"] = request_id = str(uuid.uuid4())
        state["is_page"] = is_page = pages.is_page(scope["path"])
        state["is_head"] = is_head

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                if is_page:
                    pages.set_headers(headers, scope["path"])
            await send({**message, "body": b""} if is_head and "body" in message else message)

        try:
            await self._handle(scope, receive, send_with_id)
        except Exception as error:  # the last place where one can be answered
            response = answer_unexpected(Request(scope), error)
            if status:  # the answer has begun, so its connection is all that can be ended
                raise
            await response(scope, receive, send_with_id)
        finally:
            fields = {"request": request_id, "method": scope["method"], "status": status}
            fields["route"] = getattr(
                scope.get("route"), "path", "(none)"
            )  # a path may hold a name
            seconds = time.monotonic() - began
            fields["ms"] = round(seconds * 1000)
            _count(scope, route=str(fields["route"]), status=status, seconds=seconds)
            log.info("answered a request", extra=fields)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            _check_head(request)
            if scope["path"] in {HEALTH, READY}:
                await self._app(scope, receive, send)
                return
            if scope["path"] in PUBLIC:
                with self._without_key.place(_address_of(request)):
                    await self._app(scope, receive, send)
                return
            async with self._authenticating:
                access = await _authenticate(request)
            if access is None:
                place = self._without_key.place(_address_of(request))
                within_s, most_bytes = BODY_WITHOUT_KEY_S, BYTES_WITHOUT_KEY
            else:
                request.state.access = access
                place = self._with_key.place(access.key.id)
                within_s, most_bytes = BODY_S, MAX_BODY_BYTES
            with place:
                body = await read_body(request, receive, within_s=within_s, most_bytes=most_bytes)
                await self._app(scope, body, send)
        except HTTPException as error:
            await (await answer_http(request, error))(scope, receive, send)
        except MnesticError as error:
            await (await answer_error(request, error))(scope, receive, send)


def _current(path: str) -> str:
    """The path of today: those from before there were versions lead to it until 1.0."""
    if path in _OTHERS or path.startswith(tuple(f"{one}/" for one in _OTHERS if one != "/")):
        return path
    if path.startswith("/jobs/"):
        return f"{VERSION}/maintenance/runs/{path.removeprefix('/jobs/')}"
    return f"{VERSION}{path.removeprefix('/api')}"


def _address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def _check_head(request: Request) -> None:
    if "Content-Length" in request.headers and "Transfer-Encoding" in request.headers:
        why = "the request has both Content-Length and Transfer-Encoding; send one of them"
        raise HTTPException(HTTPStatus.BAD_REQUEST, why, {"Connection": "close"})
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        why = f"the body is encoded as {encoding[:80]}, which is not read; send it as it is"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why, {"Accept-Encoding": "identity"})


def _count(scope: Scope, *, route: str, status: int, seconds: float) -> None:
    metrics = scope["app"].state.metrics
    assert isinstance(metrics, MetricsOfTenants)
    access = scope["state"].get("access")
    if access is None:
        metrics.count_without_key(status)
        return
    of_tenant = metrics.of(access.client.settings.tenant_id)
    of_tenant.observe_request(scope["method"], route, status=status, seconds=seconds)


async def _authenticate(request: Request) -> Access | None:
    """Whose key it is; None for what a page shows to everybody."""
    if request.state.is_page:
        pages.check_origin(request)
        if not pages.needs_key(request.url.path):
            return None
        text = pages.key_text_of(request)
    else:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise UnauthenticatedError(why="is missing; send `Authorization: Bearer KEY`")
    return await tenants_of(request).authenticate(text.strip())
