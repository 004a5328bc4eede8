"""A browser's requests to the page in this process: with the cookie of a key, and from a page of this server."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import httpx2
import pytest
from fastapi import FastAPI

from tests.starter.http.conftest import NewKey

HOST = "page.example"
SERVER = f"http://{HOST}"
Browse = Callable[[str | None], AbstractAsyncContextManager[httpx2.AsyncClient]]


@asynccontextmanager
async def browsing(app: FastAPI, key: str | None) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that sends a key as a browser does."""
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url=SERVER, headers={"Origin": SERVER}
    ) as http:
        if key is not None:
            http.cookies.set("mnestic_key", key, domain=HOST, path="/ui")
        yield http


@pytest.fixture
def browse(app: FastAPI) -> Browse:
    """Opens a client that sends a key as a browser does."""
    return partial(browsing, app)


@pytest.fixture
async def browser(browse: Browse, new_key: NewKey) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser in which somebody with a key for all agents and actions has signed in."""
    async with browse(await new_key(agents=("*",))) as http:
        yield http
