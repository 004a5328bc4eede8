"""Chromium on the page of a real server, over real Postgres and Temporal; what the browser reports as an error fails the test."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.app import make_app
from mnestic.starter.settings import Settings
from mnestic.starter.tenants import Tenants
from tests.acceptance.pages.checks import WIDE

CHROMIUM = "/usr/bin/chromium"
TIMEOUT_MS = 30_000


@pytest.fixture
async def url(settings: Settings) -> AsyncIterator[str]:
    """The address of a server."""
    listener = socket.create_server(("127.0.0.1", 0))
    async with await Tenants.connect(settings) as tenants:
        server = uvicorn.Server(uvicorn.Config(make_app(tenants), lifespan="off", log_config=None))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        await browser.close()


@pytest.fixture
async def page(chromium: Browser, url: str, client: MnesticClient) -> AsyncIterator[Page]:
    """A page of somebody who has signed in; errors in the console and requests that failed fail the test."""
    key = await client.api_keys().create(agents=["*"], actions=ACTIONS)
    context = await chromium.new_context(base_url=url, viewport=WIDE)
    context.set_default_timeout(TIMEOUT_MS)
    page = await context.new_page()
    errors: list[str] = []
    page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "response",
        lambda one: errors.append(f"{one.status} {one.url}") if one.status >= 400 else None,
    )
    await page.goto("/ui")
    await page.get_by_label("API key").fill(key.text)
    await page.get_by_role("button", name="Sign in").press("Enter")
    await page.get_by_role("button", name="Sign out").wait_for()
    yield page
    await context.close()
    assert errors == []
