"""A person answers a waiting job in the browser."""

import pytest
from playwright.async_api import Page, expect

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.acceptance.pages.checks import check

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]
PLAN = """
name: approval
nodes:
  - id: note
    kind: remember
    records: [{namespace: orders, key: "4711", value: {total: 120}}]
    next: read
  - {id: read, kind: recall, records: [{namespace: orders, keys: ["4711"]}], next: ask}
  - id: ask
    kind: wait
    key: approval
    ask: Should order 4711 go out?
    timeout: 21d
    form:
      type: object
      required: [decision, amount]
      properties:
        decision: {enum: ["yes", "no"], description: Whether it may go out}
        amount: {type: number}
        comment: {type: string}
    on: {resumed: end, timeout: end}
"""


async def test_a_waiting_job_is_found_answered_and_seen_to_finish(
    page: Page, client: MnesticClient
) -> None:
    plan = parse_plan(PLAN, source="test")
    await client.start_job(plan, agent_id="ada", session_id="order-4711", job_id="order-4711")

    await page.goto("/ui/jobs?state=waiting")
    await expect(
        page.get_by_text("No jobs are waiting.").or_(page.locator("tbody"))
    ).to_be_visible()
    await expect(page.get_by_role("link", name="order-4711")).to_be_visible()  # polled
    await check(page, "jobs")
    await page.get_by_role("link", name="order-4711").press("Enter")
    await expect(page.get_by_role("heading", name="Should order 4711 go out?")).to_be_visible()
    await check(page, "job")
    await page.get_by_role("link", name="Snapshot and changes").click()
    await expect(page.get_by_text("orders/4711")).to_be_visible()
    await check(page, "snapshot")
    await page.go_back()
    await page.get_by_role("link", name="Timeline").click()
    await expect(page.get_by_role("rowheader", name="wait opened")).to_be_visible()
    await page.go_back()
    await page.get_by_label("Extend by days").fill("3")
    await page.get_by_role("button", name="Extend").click()
    await expect(page.get_by_role("status")).to_have_text("The wait has a later deadline.")
    await page.get_by_label("Decision").select_option("yes")
    await page.get_by_label("Amount").fill("119.5")
    await page.get_by_label("Comment").fill("Out it goes.")
    async with page.expect_response(lambda one: one.url.endswith("/order-4711")):
        pass  # the page polls, and leaves what was written
    await expect(page.get_by_label("Comment")).to_have_value("Out it goes.")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("h1 .state")).to_have_text("completed")
    result = await client.wait_for_result("order-4711")

    assert result.results["ask"]["payload"] == {
        "decision": "yes",
        "amount": 119.5,
        "comment": "Out it goes.",
    }
