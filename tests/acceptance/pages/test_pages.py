"""A person answers a waiting job in the browser."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, Route, expect
from temporalio import activity
from temporalio.worker import Worker

from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.maintenance_wiring import (
    create_schedules,
    maintenance_activities,
    make_maintenance_worker,
)
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.acceptance.pages.checks import check
from tests.rotten_snapshots import rot_snapshots

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

# One expression: the page's policy forbids `wait_for_function`, which evaluates its text again in the page.
READ = """new Promise((resolve) => {
    const check = () =>
        window.htmx && document.readyState !== "loading" ? setTimeout(resolve) : requestAnimationFrame(check)
    check()
})"""


async def test_a_waiting_job_is_found_answered_and_seen_to_finish(
    page: Page, client: MnesticClient
) -> None:
    """On a slow network: the script which follows changes comes only once the page is read, and what was to run then has run."""

    async def late(route: Route) -> None:
        await page.evaluate(READ)
        await route.continue_()

    await page.route("**/hx-sse.min.js", late, times=1)
    plan = parse_plan(PLAN, source="test")
    await client.start_job(plan, agent_id="ada", session_id="order-4711", job_id="order-4711")

    await page.goto("/ui/jobs?state=waiting")
    await expect(
        page.get_by_text("No jobs are waiting.").or_(page.locator("tbody"))
    ).to_be_visible()
    await expect(page.get_by_role("link", name="order-4711")).to_be_visible()  # without a reload
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
    await client.extend_wait("order-4711", until=datetime(2027, 1, 31, 12, tzinfo=UTC))
    await expect(page.get_by_text("31 Jan 2027, 12:00 UTC")).to_be_visible()
    await expect(page.get_by_label("Comment")).to_have_value("Out it goes.")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("h1 .state")).to_have_text("completed")
    result = await client.wait_for_result("order-4711")

    assert result.results["ask"]["payload"] == {
        "decision": "yes",
        "amount": 119.5,
        "comment": "Out it goes.",
    }


async def test_a_job_that_needs_attention_continues_after_a_second_step(
    page: Page, client: MnesticClient, admin_url: str
) -> None:
    plan = parse_plan(PLAN, source="test")
    for job_id in ("order-1", "order-2"):
        await client.start_job(plan, agent_id="ada", session_id=job_id, job_id=job_id)
    async with asyncio.timeout(120):
        while len((await client.list_jobs(state="waiting"))[0]) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # Temporal's visibility sets no event

    await page.goto("/ui/jobs?state=waiting")
    for job_id in ("order-1", "order-2"):
        await page.get_by_label(f"Choose {job_id}").check()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("heading", name="Resume 2 jobs?")).to_be_visible()
    await check(page, "jobs-preview")
    await page.goto("/ui/jobs?state=waiting")
    rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)
    await page.get_by_role("link", name="order-1").click()
    await page.get_by_label("Amount").fill("1")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("heading", name="order-1 needs attention")).to_be_visible()
    await expect(page.get_by_text("The snapshot cannot be compared")).to_be_visible()
    await check(page, "override")
    await page.get_by_label("Reason").fill("The disk was repaired.")
    await page.get_by_label("Amount").fill("1")
    await page.get_by_label("Outcome").select_option("resumed")
    await page.get_by_role("button", name="Continue").press("Enter")
    await expect(page.locator("h1 .state")).to_have_text("completed")


async def test_the_cursor_of_a_running_job_moves_without_a_reload(
    page: Page, client: MnesticClient
) -> None:
    """Two tools, each of which runs until the test lets it end."""
    ended = {"pick": asyncio.Event(), "pack": asyncio.Event()}

    @activity.defn
    async def work(name: str) -> str:
        await ended[name].wait()
        return name

    queue = f"tools-{uuid.uuid4().hex[:8]}"
    nodes = "".join(
        f"\n  - {{id: {name}, kind: tool, activity: work, task_queue: {queue}, arguments: {name}, next: {then}}}"
        for name, then in (("pick", "pack"), ("pack", "end"))
    )
    plan = parse_plan(f"name: parcels\nnodes:{nodes}", source="test")
    async with Worker(client.temporal, task_queue=queue, activities=[work]):
        await client.start_job(plan, agent_id="ada", session_id="parcel-1", job_id="parcel-1")
        await page.goto("/ui/jobs/parcel-1")
        for name, may_end in ended.items():
            await expect(page.locator("[aria-current=step] strong")).to_have_text(name)
            may_end.set()
        await expect(page.locator("h1 .state")).to_have_text("completed")
        await expect(page.locator("[aria-current=step]")).to_have_count(0)


async def test_a_person_mends_what_an_agent_remembers(page: Page, client: MnesticClient) -> None:
    memory = client.memory("ada")
    await memory.facts.add("Mara", "lives_in", "Porto")
    await memory.facts.add("Mara", "likes", "jazz")
    await memory.add("Mara has lived in Porto since spring.", channel="chat", speaker="Mara")
    await memory.add("The boiler in the cellar was repaired on Tuesday.", channel="mail")

    await page.get_by_role("link", name="Memory").click()
    await page.get_by_role("link", name="ada").click()
    value = page.get_by_label("Value of lives in of Mara")
    await value.fill("Lisbon")
    await value.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The fact was changed.")
    await expect(value).to_have_value("Lisbon")
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Delete likes of Mara: jazz").click()
    await expect(page.get_by_role("status")).to_have_text("The fact was deleted.")
    await page.get_by_label("New fact about").fill("Mara")
    await page.get_by_label("Predicate").last.fill("plays")
    await page.locator("#new-value").fill("the cello")
    await page.get_by_role("button", name="Add").click()
    await expect(page.get_by_label("Value of plays of Mara")).to_have_value("the cello")
    await memory.facts.add("Mara", "owns", "a boat")
    await expect(page.get_by_label("Value of owns of Mara")).to_have_value("a boat")  # live
    await check(page, "facts")
    await page.get_by_role("link", name="History of lives in of Mara").click()
    await expect(page.get_by_role("heading", level=2)).to_have_text(
        ["Porto archived", "Lisbon active"]
    )
    await check(page, "fact")


async def test_a_person_searches_three_ways(page: Page, client: MnesticClient) -> None:
    memory = client.memory("ada")
    await memory.add("Mara has lived in Porto since spring.", channel="chat", speaker="Mara")
    await memory.add("The boiler in the cellar was repaired on Tuesday.", channel="mail")

    await page.goto("/ui/memory/search?agent_id=ada")
    for mode in ("Meaning", "Words", "Both"):
        await page.get_by_label("Question").fill("Where does Mara live?")
        await page.get_by_role("radio", name=mode).check()
        await page.get_by_role("button", name="Search").click()
        await expect(page.get_by_role("radio", name=mode)).to_be_checked()
        await expect(page.get_by_label("Results").get_by_role("listitem")).to_have_count(1)
        await expect(page.get_by_label("Results")).to_contain_text("Porto")
    await page.get_by_label("Expected").fill("boiler")
    await page.get_by_role("button", name="Search").press("Enter")
    await expect(page.get_by_role("heading", name="The expected entry")).to_be_visible()
    await check(page, "search")


async def test_a_memory_is_opened_from_a_search_and_several_are_archived(
    page: Page, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    for day, town in enumerate(("Porto", "Faro"), start=2):
        at = datetime(2026, 3, day, 9, tzinfo=UTC)
        await memory.add(f"I live in {town}.", speaker="Mara", channel="chat", at=at, tags=["home"])
    await memory.add("The boiler is serviced every May.", speaker="Ida", session_id="house")
    await (await start_ingest(client, agent_id="ada")).result()
    await memory.auto_retrieve("Where does Mara live?", "chat")

    await page.goto("/ui/memory/search?agent_id=ada&q=Where does Mara live%3F")
    await page.get_by_role("link", name="I live in Faro.").press("Enter")
    await expect(page.get_by_role("table", name="Learned from it")).to_contain_text("Faro")
    await expect(page.get_by_role("table", name="Put before messages")).to_contain_text(
        "Where does"
    )
    await page.get_by_role("button", name="Pin").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("No policy deletes this memory.")
    await page.get_by_text("Edit", exact=True).press("Enter")
    await page.get_by_label("Tags").fill("home\nmove")
    await page.get_by_role("button", name="Save").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The memory was changed.")
    await check(page, "memory")
    await page.get_by_role("link", name="Memories").first.click()
    await page.get_by_label("Speaker").fill("mara")
    await page.get_by_role("button", name="Filter").press("Enter")
    await expect(page.locator("tbody tr")).to_have_count(2)
    await check(page, "memories")
    await page.get_by_role("link", name="I live in Porto.").click()
    await expect(
        page.get_by_role("definition").get_by_role("link", name="I live in Faro.")
    ).to_be_visible()
    await check(page, "memory-superseded")
    await page.go_back()
    await page.get_by_label("All that match the filter").check()
    await page.get_by_role("button", name="Archive").press("Enter")
    await expect(page.get_by_role("heading", name="Archive 2 memories?")).to_be_visible()
    await check(page, "memories-preview")
    await page.get_by_role("button", name="Archive 2 memories").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Archived: 2. Failed: 0.")
    await page.get_by_role("link", name="To the memories").click()
    await page.get_by_role("link", name="Archive").click()
    await expect(page.locator("tbody tr")).to_have_count(2)
    await page.get_by_role("link", name="I live in Faro.").click()
    await page.get_by_role("button", name="Restore").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Searches find the memory again.")


async def test_a_slider_holds_after_a_reload_and_a_preview_shows_what_it_does(
    page: Page, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    await memory.add("Mara has lived in Porto since spring.", channel="chat", speaker="Mara")
    await memory.auto_retrieve("Where does Mara live?", "chat")

    await page.goto("/ui/memory/auto-retrieval?agent_id=ada")
    results = page.get_by_role("slider", name="Results")
    await results.press("ArrowRight")
    await results.press("ArrowRight")
    await expect(page.locator("#saved")).to_contain_text("at most 6 results")
    await page.get_by_role("slider", name="Minimum score").press("Home")
    await expect(page.locator("#saved")).to_contain_text("from score 0.3")
    await page.reload()
    await expect(results).to_have_value("6")
    await expect(page.locator("output").last).to_have_text("0.3")
    await page.get_by_label("Message").fill("Where does Mara live now?")
    await page.get_by_role("button", name="Show what comes before it").click()
    await expect(page.locator("#preview")).to_contain_text("Mara has lived in Porto")
    await check(page, "auto-retrieval")
    await page.get_by_label("On", exact=True).uncheck()
    await expect(page.locator("#saved")).to_have_text("Auto-retrieval is off.")


async def test_a_topic_is_forgotten_after_a_preview(page: Page, client: MnesticClient) -> None:
    memory = client.memory("ada")
    await memory.add("Mara has lived in Porto since spring.", channel="chat", speaker="Mara")
    await memory.facts.add("Mara", "lives_in", "Porto")
    await (await start_ingest(client, agent_id="ada")).result()  # the token is of its facts too

    await page.goto("/ui/memory/forget?agent_id=ada")
    await page.get_by_label("Topic").fill("Porto")
    await page.get_by_label("Topic").press("Enter")
    await expect(page.get_by_role("rowheader")).to_contain_text(
        ["Mara has lived in Porto since spring."]
    )
    await check(page, "forget")
    await page.get_by_role("button", name="Forget all of this").click()
    await expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    found = await memory.retrieve("Porto")

    assert found.results == ()


async def test_the_graph_travels_in_time(page: Page, client: MnesticClient) -> None:
    facts, now = client.memory("ada").facts, datetime.now(UTC)
    moved = now - timedelta(days=30)
    await facts.add("Mara", "lives_in", "Porto", valid_from=now - timedelta(days=400))
    await facts.add("Mara", "lives_in", "Lisbon", valid_from=moved)
    for friend in ("Ben", "Cleo", "Dora"):
        await facts.add("Mara", "knows", friend, valid_from=now - timedelta(days=100))

    await page.goto("/ui/graph?agent_id=ada")
    await expect(page.locator("svg.graph line")).to_have_count(4)
    await expect(page.locator("svg.graph")).to_contain_text("Lisbon")
    await check(page, "graph")
    back = page.get_by_label("Days back")
    await back.fill("200")
    await expect(page.locator("svg.graph line")).to_have_count(1)
    await expect(page.locator("svg.graph")).to_contain_text("Porto")
    await page.reload()
    await expect(back).to_have_value("200")
    await back.press("Home")
    await expect(page.locator("svg.graph line")).to_have_count(4)
    await page.get_by_label("Around").fill("Ben")
    await page.get_by_label("Around").press("Enter")
    await expect(page.locator("svg.graph line")).to_have_count(1)


@pytest.fixture
async def maintained(
    client: MnesticClient, memory: PostgresMemory, settings: Settings, admin_url: str
) -> AsyncIterator[None]:
    """A worker of maintenance, and the Schedules that it creates."""
    activities = maintenance_activities(memory, admin_url=admin_url)
    async with make_maintenance_worker(client.temporal, settings, activities=activities):
        await create_schedules(memory, client.temporal, settings)
        yield


@pytest.mark.usefixtures("maintained")
async def test_an_operator_watches_and_steers(page: Page, client: MnesticClient) -> None:
    await client.memory("ada").add("Mara lives in Porto.")

    await page.get_by_role("link", name="Maintenance").click()
    await page.get_by_role("button", name="Pause nightly").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The Schedule is paused.")
    await page.get_by_role("button", name="Resume nightly").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The Schedule runs again.")
    await page.get_by_label("Run now").select_option("nightly")
    await page.get_by_label("Change nothing").check()
    await page.get_by_role("button", name="Run", exact=True).click()
    await expect(page.get_by_role("heading", name="Nightly, dry run")).to_be_visible()
    await check(page, "maintenance")
    await page.get_by_role("link", name="Policy").click()
    hour = page.get_by_role("form", name="Nightly: times").get_by_label("Hour")
    await hour.fill("4")
    await hour.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The policy was saved.")
    await expect(hour).to_have_value("4")
    await check(page, "policy")
    await page.get_by_role("link", name="Audit").click()
    await expect(page.get_by_role("rowheader", name="entry.add").first).to_be_visible()
    await check(page, "audit")
    await page.get_by_role("link", name="Costs").click()
    await page.get_by_role("link", name="7 days").click()
    await expect(page.get_by_role("heading", name="Auto-retrieval")).to_be_visible()
    await check(page, "costs")
