"""What others change while a person writes into a page: nothing is saved to, or answered at, another place than it was written for."""

import pytest
from playwright.async_api import Page, expect

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http import server_sent_events
from mnestic.starter.jobs.plans import parse_plan

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]
_NODE = """
  - id: {id}
    kind: wait
    key: {id}
    ask: How many {id}?
    timeout: 21d
    form: {{type: object, required: [amount], properties: {{amount: {{type: number}}}}}}
    on: {{resumed: {then}, timeout: end}}"""
TWO_QUESTIONS = f"name: two-questions\nnodes:{_NODE.format(id='boxes', then='pallets')}{_NODE.format(id='pallets', then='end')}"


async def test_a_value_stays_in_its_row_when_a_fact_comes_before_it(
    page: Page, client: MnesticClient
) -> None:
    facts = client.memory("ada").facts
    for name, place in (("Bea", "Rome"), ("Cid", "Oslo")):
        await facts.add(name, "lives_in", place)
    await page.goto("/ui/memory?agent_id=ada")
    value = page.get_by_label("Value of lives in of Cid")
    await value.fill("Bergen")

    await facts.add("Abe", "lives_in", "Kiel")
    await expect(page.get_by_label("Value of lives in of Abe")).to_have_value("Kiel")  # live
    await expect(page.get_by_label("Value of lives in of Bea")).to_have_value("Rome")
    await expect(value).to_have_value("Bergen")
    await value.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The fact was changed.")
    found, _ = await facts.list(predicate="lives_in")

    assert {one.subject: one.object for one in found} == {
        "Abe": "Kiel",
        "Bea": "Rome",
        "Cid": "Bergen",
    }


async def test_a_fact_that_somebody_else_has_changed_is_shown_as_it_is(
    page: Page, client: MnesticClient
) -> None:
    facts = client.memory("ada").facts
    await facts.add("Bea", "lives_in", "Rome")
    await page.goto("/ui/memory?agent_id=ada")
    value = page.get_by_label("Value of lives in of Bea")
    await value.fill("Milan")

    await facts.add("Bea", "lives_in", "Turin")

    await expect(value).to_have_value("Turin")


async def test_a_page_that_finds_no_free_stream_follows_once_there_is_one(
    page: Page, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = client.memory("ada").facts
    await facts.add("Bea", "lives_in", "Rome")
    monkeypatch.setattr(server_sent_events, "MOST_STREAMS", 0)
    await page.goto("/ui/memory?agent_id=ada")
    value = page.get_by_label("Value of lives in of Bea")
    await facts.add("Bea", "lives_in", "Turin")
    await expect(value).to_have_value("Rome")

    monkeypatch.setattr(server_sent_events, "MOST_STREAMS", 16)

    await expect(value).to_have_value("Turin", timeout=30_000)


async def test_an_answer_is_not_taken_over_to_the_next_question(
    page: Page, client: MnesticClient
) -> None:
    plan = parse_plan(TWO_QUESTIONS, source="test")
    await client.start_job(plan, agent_id="ada", session_id="van", job_id="van")
    await page.goto("/ui/jobs/van")
    await expect(page.get_by_role("heading", name="How many boxes?")).to_be_visible()
    await page.get_by_label("Amount").fill("12")
    await page.get_by_label("Extend by days").fill("30")

    await client.resume_job("van", {"amount": 3})
    await expect(page.get_by_role("heading", name="How many pallets?")).to_be_visible()

    await expect(page.get_by_label("Amount")).to_have_value("")
    await expect(page.get_by_label("Extend by days")).to_have_value("7")
