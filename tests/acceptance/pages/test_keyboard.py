"""The page by keyboard alone."""

import pytest
from playwright.async_api import Page, expect

from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]


async def test_a_fact_is_edited_and_deleted(page: Page, client: MnesticClient) -> None:
    facts = client.memory("ada").facts
    await facts.add("Bea", "lives_in", "Rome")
    await facts.add("Cid", "lives_in", "Oslo")
    await page.goto("/ui/memory?agent_id=ada")
    value = page.get_by_label("Value of lives in of Bea")
    status = page.get_by_role("status")

    await value.focus()
    await page.keyboard.type(" and Milan")
    await page.keyboard.press("Escape")
    await expect(value).to_have_value("Rome")

    await page.keyboard.press("Control+A")
    await page.keyboard.type("Turin")
    await page.keyboard.press("Enter")
    await expect(status).to_have_text("The fact was changed.")
    await expect(status).to_be_focused()
    await expect(value).to_have_value("Turin")

    answers = [False, True]
    page.on("dialog", lambda one: one.accept() if answers.pop(0) else one.dismiss())
    await page.get_by_role("button", name="Delete lives in of Bea").focus()
    await page.keyboard.press("Enter")
    await expect(value).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(status).to_have_text("The fact was deleted.")
    await expect(status).to_be_focused()
    await expect(value).to_have_count(0)
