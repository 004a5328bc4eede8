"""Signing in with an API key, and out again."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.starter.http.calls import tenants_of
from mnestic.starter.http.pages.access import ROOT, SIGN_IN, forget_key, is_page, remember_key
from mnestic.starter.http.pages.rendering import areas_of, render
from mnestic.starter.tenants import Access

router = APIRouter()
Then = Annotated[str, Query(max_length=4000, description="The page to go to")]


@router.get(SIGN_IN)
async def form(request: Request, then: Then = ROOT) -> Response:
    """The form."""
    return render(request, "sign_in.html", then=then, why=None)


@router.post(SIGN_IN)
async def sign_in(
    request: Request,
    key: Annotated[str, Form(max_length=1000)] = "",
    then: Annotated[str, Form(max_length=4000)] = ROOT,
) -> Response:
    """Has the browser send the key from now on."""
    try:
        await tenants_of(request).authenticate(key.strip())
    except UnauthenticatedError as error:
        return render(
            request, "sign_in.html", status=HTTPStatus.UNAUTHORIZED, then=then, why=str(error)
        )
    response = RedirectResponse(_own(then), status_code=HTTPStatus.SEE_OTHER)
    remember_key(request, response, key.strip())
    return response


@router.post(f"{ROOT}/sign-out")
async def sign_out(request: Request) -> Response:
    """Has the browser send no key any more."""
    response = RedirectResponse(SIGN_IN, status_code=HTTPStatus.SEE_OTHER)
    forget_key(request, response)
    return response


@router.get(ROOT)
async def home(request: Request) -> Response:
    """Goes to the first page that the key allows."""
    access: Access = request.state.access
    first = next((area.path for area in areas_of(access)), f"{ROOT}/agents")
    return RedirectResponse(first, status_code=HTTPStatus.SEE_OTHER)


def _own(then: str) -> str:
    """The page to go to, unless it is none of this server."""
    return then if is_page(then.partition("?")[0]) else ROOT
