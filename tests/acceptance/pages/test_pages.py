"""A person answers a waiting job in the browser."""

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect
from temporalio import activity
from temporalio.worker import Worker

from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http import server_sent_events
from mnestic.starter.jobs.plans import parse_plan, read_plan
from tests.acceptance.pages.checks import NARROW, check
from tests.rotten_snapshots import rot_snapshots

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]
PLAN = read_plan(Path(__file__).with_name("approval.yaml"))

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
    await client.start_job(PLAN, agent_id="ada", session_id="order-4711", job_id="order-4711")

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
    for job_id in ("order-1", "order-2"):
        await client.start_job(PLAN, agent_id="ada", session_id=job_id, job_id=job_id)

    await page.goto("/ui/jobs?state=waiting")
    for job_id in ("order-1", "order-2"):  # which come without a reload
        await page.get_by_label(f"Choose {job_id}").check()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("heading", name="Resume 2 jobs?")).to_be_visible()
    await check(page, "jobs-preview")
    await page.goto("/ui/jobs/order-1")
    rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)
    await page.get_by_label("Amount").fill("1")
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("heading", name="order-1 needs attention")).to_be_visible()
    await check(page, "override")
    await page.get_by_label("Reason").fill("The disk was repaired.")
    await page.get_by_label("Amount").fill("1")
    await page.get_by_label("Outcome").select_option("resumed")
    await page.get_by_role("button", name="Continue").press("Enter")
    await expect(page.locator("h1 .state")).to_have_text("completed")


async def test_the_page_of_a_job_follows_it_and_takes_no_answer_over_to_the_next_question(
    page: Page, client: MnesticClient
) -> None:
    """A tool that runs until the test lets it end, and two questions."""
    may_end = asyncio.Event()

    @activity.defn
    async def work() -> None:
        await may_end.wait()

    queue = f"tools-{uuid.uuid4().hex[:8]}"
    form = "form: {type: object, required: [amount], properties: {amount: {type: number}}}"
    nodes = (
        f"\n  - {{id: pack, kind: tool, activity: work, task_queue: {queue}, next: boxes}}"
        + "".join(
            f"\n  - {{id: {name}, kind: wait, key: {name}, ask: How many {name}?, timeout: 21d, {form}, "
            f"on: {{resumed: {then}, timeout: end}}}}"
            for name, then in (("boxes", "pallets"), ("pallets", "end"))
        )
    )
    plan = parse_plan(f"name: parcels\nnodes:{nodes}", source="test")
    step = page.locator("[aria-current=step]")
    async with Worker(client.temporal, task_queue=queue, activities=[work]):
        await client.start_job(plan, agent_id="ada", session_id="van", job_id="van")
        await page.goto("/ui/jobs/van")
        await expect(step.locator("strong")).to_have_text("pack")
        may_end.set()
        await expect(page.get_by_role("heading", name="How many boxes?")).to_be_visible()
    await expect(step.locator("strong")).to_have_text("boxes")
    await page.get_by_label("Amount").fill("12")
    await page.get_by_label("Extend by days").fill("30")

    await client.resume_job("van", {"amount": 3})

    await expect(page.get_by_role("heading", name="How many pallets?")).to_be_visible()
    await expect(page.get_by_label("Amount")).to_have_value("")
    await expect(page.get_by_label("Extend by days")).to_have_value("7")
    await client.resume_job("van", {"amount": 1})
    await expect(page.locator("h1 .state")).to_have_text("completed")
    await expect(step).to_have_count(0)


async def test_facts_are_edited_by_keyboard_while_others_change_them(
    page: Page, client: MnesticClient
) -> None:
    """Nothing is saved to another place than it was written for."""
    facts = client.memory("ada").facts
    for name, place in (("Bea", "Rome"), ("Cid", "Oslo")):
        await facts.add(name, "lives_in", place)
    await page.get_by_role("link", name="Memory").click()
    await page.get_by_role("link", name="ada").click()
    rows = {
        name: page.get_by_label(f"Value of lives in of {name}") for name in ("Abe", "Bea", "Cid")
    }
    status = page.get_by_role("status")

    await rows["Bea"].focus()
    await page.keyboard.type(" and Milan")
    await page.keyboard.press("Escape")
    await expect(rows["Bea"]).to_have_value("Rome")
    await rows["Cid"].fill("Bergen")
    await facts.add("Abe", "lives_in", "Kiel")
    await facts.add("Bea", "lives_in", "Turin")
    await expect(rows["Abe"]).to_have_value("Kiel")  # live
    await expect(rows["Bea"]).to_have_value("Turin")
    await expect(rows["Cid"]).to_have_value("Bergen")
    await rows["Cid"].press("Enter")
    await expect(status).to_have_text("The fact was changed.")
    await expect(status).to_be_focused()
    await check(page, "facts")
    found, _ = await facts.list(predicate="lives_in")
    assert {one.subject: one.object for one in found} == {"Abe": "Kiel", "Bea": "Turin", "Cid": "Bergen"}  # fmt: skip

    answers = [False, True]
    page.on("dialog", lambda one: one.accept() if answers.pop(0) else one.dismiss())
    await page.get_by_role("button", name="Delete lives in of Abe").focus()
    await page.keyboard.press("Enter")
    await expect(rows["Abe"]).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(status).to_have_text("The fact was deleted.")
    await expect(status).to_be_focused()
    await expect(rows["Abe"]).to_have_count(0)
    await page.get_by_role("link", name="History of lives in of Bea").click()
    await expect(page.get_by_role("heading", level=2)).to_have_text(
        ["Rome archived", "Turin active"]
    )
    await check(page, "fact")


async def test_a_list_stays_where_it_is_and_comes_first_on_a_phone(
    page: Page, client: MnesticClient
) -> None:
    await client.memory("ada").facts.add("Mara", "lives_in", "Porto")
    await page.goto("/ui/memory?agent_id=ada")
    rows, value = page.locator("tbody"), page.get_by_label("Value of lives in of Mara")
    before = await rows.bounding_box()

    await value.focus()
    await expect(page.get_by_role("button", name="Save")).to_be_visible()
    assert await rows.bounding_box() == before

    await page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    tops = [await page.locator(one).bounding_box() for one in ("#facts", "#filters", ".card")]
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)
    await page.get_by_role("link", name="Filter").click()
    await expect(page.get_by_label("About", exact=True)).to_be_in_viewport()


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


async def test_a_memory_is_found_opened_and_archived_with_others(
    page: Page, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    for day, town in enumerate(("Porto", "Faro"), start=2):
        at = datetime(2026, 3, day, 9, tzinfo=UTC)
        await memory.add(f"I live in {town}.", speaker="Mara", channel="chat", at=at, tags=["home"])
    await (await start_ingest(client, agent_id="ada")).result()

    await page.goto("/ui/memory/search?agent_id=ada")
    for mode in ("Meaning", "Words", "Both"):
        await page.get_by_label("Question").fill("Where does Mara live?")
        await page.get_by_role("radio", name=mode).check()
        await page.get_by_role("button", name="Search").click()
        await expect(page.get_by_role("radio", name=mode)).to_be_checked()
        await expect(page.get_by_label("Results")).to_contain_text("Faro")
    await page.get_by_label("Expected").fill("Porto")
    await page.get_by_role("button", name="Search").press("Enter")
    await expect(page.get_by_role("heading", name="The expected entry")).to_be_visible()
    await check(page, "search")
    await page.get_by_label("Results").get_by_role("link", name="I live in Faro.").press("Enter")
    await expect(page.get_by_role("table", name="Learned from it")).to_contain_text("Faro")
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
    await page.get_by_label("All that match the filter").check()
    await page.get_by_role("button", name="Archive").press("Enter")
    await expect(page.get_by_role("heading", name="Archive 2 memories?")).to_be_visible()
    await check(page, "memories-preview")
    await page.get_by_role("button", name="Archive 2 memories").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Archived: 2. Failed: 0.")
    await page.get_by_role("link", name="To the memories").click()
    await page.get_by_role("link", name="Archive").click()
    await page.get_by_role("link", name="I live in Faro.").click()
    await page.get_by_role("button", name="Restore").press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Searches find the memory again.")


async def test_a_slider_holds_after_a_reload_and_previews_show_what_is_to_come(
    page: Page, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    await memory.add("Mara has lived in Porto since spring.", channel="chat", speaker="Mara")
    await memory.auto_retrieve("Where does Mara live?", "chat")
    await (await start_ingest(client, agent_id="ada")).result()  # what is forgotten is of facts too

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
    await page.goto("/ui/memory/forget?agent_id=ada")
    await page.get_by_label("Topic").fill("Porto")
    await page.get_by_label("Topic").press("Enter")
    await expect(page.get_by_role("rowheader")).to_contain_text(["Mara has lived in Porto"])
    await check(page, "forget")
    await page.get_by_role("button", name="Forget all of this").click()
    await expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    assert (await memory.retrieve("Porto")).results == ()


async def test_the_graph_travels_in_time(page: Page, client: MnesticClient) -> None:
    facts, now = client.memory("ada").facts, datetime.now(UTC)
    moved = now - timedelta(days=30)
    await facts.add("Mara", "lives_in", "Porto", valid_from=now - timedelta(days=400))
    await facts.add("Mara", "lives_in", "Lisbon", valid_from=moved)
    for friend in ("Ben", "Cleo", "Dora"):
        await facts.add("Mara", "knows", friend, valid_from=now - timedelta(days=100))

    await page.goto("/ui/graph?agent_id=ada")
    await expect(page.locator(".graph line")).to_have_count(4)
    await expect(page.locator(".graph")).to_contain_text("Lisbon")
    await check(page, "graph")
    back = page.get_by_label("Days back")
    await back.fill("200")
    await expect(page.locator(".graph line")).to_have_count(1)
    await expect(page.locator(".graph")).to_contain_text("Porto")
    await page.reload()
    await expect(back).to_have_value("200")
    await back.press("Home")
    await expect(page.locator(".graph line")).to_have_count(4)
    await page.get_by_label("Around").fill("Ben")
    await page.get_by_label("Around").press("Enter")
    await expect(page.locator(".graph line")).to_have_count(1)


async def test_a_query_of_the_graph_is_run_and_drawn(page: Page, client: MnesticClient) -> None:
    graph = {
        "enabled": True,
        "nodes": [{"type": "Task"}],
        "edges": [{"type": "DEPENDS_ON", "from_node": "Task", "to_node": "Task"}],
        "queries": [
            {
                "query_id": "blockers",
                "cypher": "MATCH (t:Task {id: $id})-[d:DEPENDS_ON*1..3]->(b) RETURN b, d, t",
            }
        ],
    }
    await client.contracts().apply("ada", {"Memory": {"graph": graph}})
    memory = await client.contract("ada")
    for name in ("Launch", "Audit", "Crawl"):
        await memory.upsert_node("Task", name)
    await memory.upsert_edge("DEPENDS_ON", source="Launch", target="Audit")
    await memory.upsert_edge("DEPENDS_ON", source="Audit", target="Crawl")

    await page.goto("/ui/graph?agent_id=ada")
    await page.get_by_role("link", name="blockers").click()
    await page.get_by_label("id", exact=True).fill("Launch")
    await page.get_by_role("button", name="Run").click()

    await expect(page.locator(".graph line")).to_have_count(2)
    await expect(page.locator(".graph")).to_contain_text("Crawl")
    await check(page, "graph-query")


async def test_an_operator_finds_each_page_and_saves_a_policy(
    page: Page, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.")

    for path in ("/ui/keys", "/ui/memory/transfer?agent_id=ada"):
        await page.goto(path)
        await check(page, path.split("?")[0].replace("/", "-"))
    for name in ("Audit", "Costs", "Health", "Maintenance"):
        await page.get_by_role("link", name=name).click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text(name)
        await check(page, name)
    await page.get_by_role("link", name="Policy").click()
    hour = page.get_by_role("form", name="Nightly: times").get_by_label("Hour")
    await hour.fill("4")
    await hour.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("The policy was saved.")
    await check(page, "policy")
