"""API keys: listed, made and revoked. The text of a new one is shown once, and it allows no more than the key that makes it."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from pydantic import Field

from mnestic.memory.access.api_keys import ACTIONS, Action, IssuedKey
from mnestic.memory.access.errors import ForbiddenError
from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
KEYS = f"{ROOT}/keys"
_LIMIT = 50
AdminCall = Annotated[TenantCall, tenant_call("admin")]


@router.get(KEYS)
async def list_keys(
    request: Request, call: AdminCall, cursor: Annotated[str | None, Query(max_length=2000)] = None
) -> Response:
    """The keys, the newest first."""
    return await _list(request, call, cursor=cursor)


@router.post(KEYS)
async def create(
    request: Request,
    call: AdminCall,
    agents: Annotated[str, Form(max_length=1000)],
    form_id: Annotated[str, Form(pattern=r"^[0-9a-f]{32}$")],
    actions: Annotated[list[Action], Form()] = [],  # noqa: B006 - FastAPI reads it
    days: Annotated[Annotated[int, Field(ge=1, le=36_500)] | Literal[""], Form()] = "",
) -> Response:
    """Makes a key, and shows it; a form that comes again, as when the page is loaded again, makes no other."""
    beyond = set(actions) - set(call.access.key.scope.actions)
    if beyond:
        why = f"your own key does not allow {', '.join(sorted(beyond))}"
        raise ForbiddenError(what="this key", why=why)
    expires_in = None if days == "" else timedelta(days=days)
    own_end = call.access.key.expires_at
    if own_end is not None:
        left = own_end - datetime.now(UTC)
        expires_in = left if expires_in is None else min(left, expires_in)
    sent = {"form": form_id}
    reserved = await call.client.reserve_request_id(f"page/{form_id}", request=sent)
    if not reserved.is_new:
        return back_to(KEYS, done="key_made_before")
    issued = await call.client.api_keys(actor=call.access.actor).create(
        agents=agents.replace(",", " ").split(), actions=actions, expires_in=expires_in
    )
    return await _list(request, call, issued=issued)


@router.post(f"{KEYS}/{{key}}/revoke")
async def revoke(key: str, call: AdminCall) -> Response:
    """Revokes a key."""
    await call.client.api_keys(actor=call.access.actor).revoke(key)
    return back_to(KEYS, done="key_revoked")


async def _list(
    request: Request,
    call: TenantCall,
    *,
    cursor: str | None = None,
    issued: IssuedKey | None = None,
) -> Response:
    keys, next_cursor = await call.client.api_keys(actor=call.access.actor).list(
        limit=_LIMIT, cursor=cursor
    )
    return render(
        request,
        "keys.html",
        keys=keys,
        next_cursor=next_cursor,
        issued=issued,
        form_id=uuid.uuid4().hex,
        actions=[one for one in ACTIONS if one in call.access.key.scope.actions],
        now=datetime.now(UTC),
    )
