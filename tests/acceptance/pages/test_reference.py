"""The reference of the HTTP API in the browser: shown by files of the server alone."""

import pytest
from playwright.async_api import Page, expect

pytestmark = pytest.mark.acceptance


async def test_the_reference_is_shown_without_another_host(page: Page, url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))

    await page.goto("/docs")
    await expect(page.get_by_text("Durable memory for AI agents.")).to_be_visible(timeout=30_000)
    await page.locator(".opblock-summary-control").first.click()
    await expect(page.get_by_role("button", name="Try it out").first).to_be_visible()

    elsewhere = [one for one in asked if not one.startswith((url, "data:"))]
    assert elsewhere == []
    assert f"{url}/openapi.json" in asked
