"""The HTTP API in this process, over real Postgres and Temporal, and keys for it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.app import make_routes, set_state
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants

ALL = ("read", "write", "forget", "jobs", "admin")
NewKey = Callable[..., Awaitable[str]]
Api = Callable[..., httpx2.AsyncClient]


@pytest.fixture
async def tenants(settings: Settings) -> AsyncIterator[Tenants]:
    """The connections of an API process."""
    async with await Tenants.connect(settings) as tenants:
        yield tenants


@pytest.fixture(scope="session")
def routes() -> FastAPI:
    """The application without its state; what each route takes is worked out at its first request."""
    return make_routes()


@pytest.fixture
def app(routes: FastAPI, tenants: Tenants) -> FastAPI:
    """The application, with a state that only this test uses."""
    set_state(routes, tenants)
    return routes


@pytest.fixture
def new_key(client: MnesticClient) -> NewKey:
    """Makes a key of this test's tenant, for agent ada and all actions unless others are named."""

    async def make(
        *,
        agents: tuple[str, ...] = ("ada",),
        actions: tuple[Any, ...] = ALL,
        expires_in: timedelta | None = None,
    ) -> str:
        issued = await client.api_keys().create(
            agents=agents, actions=actions, expires_in=expires_in
        )
        return issued.text

    return make


@pytest.fixture
async def invalid_keys(client: MnesticClient, new_key: NewKey) -> dict[str, str | None]:
    """What is no valid key of this test's tenant, by why."""
    expired = await new_key(expires_in=timedelta(microseconds=1))
    revoked = await new_key()
    await client.api_keys().revoke(revoked.split(".")[-2])
    valid = await new_key()
    head, _, secret = valid.rpartition(".")
    return {
        "none": None,
        "no key": "nonsense",
        "wrong": f"{head}.{secret[::-1]}",
        "of another tenant": valid.replace(client.settings.tenant_id, "another"),
        "expired": expired,
        "revoked": revoked,
    }


@asynccontextmanager
async def opened(app: ASGIApp, key: str | None) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API that sends a key."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://api", headers=headers
    ) as http:
        yield http


@pytest.fixture
async def http(app: FastAPI, new_key: NewKey) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with a key for agent ada and all actions."""
    async with opened(app, await new_key()) as http:
        yield http
