"""Jobs on the page, without a browser: what is listed and shown, and what a form does."""

import asyncio
import json
import re

import httpx2
import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.starter.http.conftest import NewKey
from tests.starter.http.pages.conftest import Browse
from tests.starter.http.routes import PLAN

FORM = {
    "type": "object",
    "required": ["answer", "amount"],
    "properties": {
        "answer": {"enum": ["yes", "no"]},
        "amount": {"type": "integer", "description": "In euros"},
        "final": {"type": "boolean"},
        "note": {"type": "string"},
    },
}


async def waiting_job(client: MnesticClient, *, form: object = None, agent_id: str = "ada") -> str:
    """A job that waits, with a form."""
    (node,) = PLAN["nodes"]  # type: ignore[misc]
    document = {**PLAN, "nodes": [{**node, **({"form": form} if form else {})}]}
    plan = parse_plan(json.dumps(document), source="test")
    job_id = await client.start_job(plan, agent_id=agent_id, session_id="s")
    await until(client, job_id, "waiting")
    return job_id


async def until(client: MnesticClient, job_id: str, state: str) -> None:
    async with asyncio.timeout(30):
        while (await client.describe_job(job_id)).state != state:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_answered_through_the_fields_of_its_form(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    job_id = await waiting_job(client, form=FORM)

    page = (await browser.get(f"/ui/jobs/{job_id}")).text
    wait = await client.find_open_wait(job_id)
    assert wait is not None
    fields = {"field.answer": '"yes"', "field.amount": "12", "field.note": ""}
    refused = await browser.post(
        f"/ui/jobs/{job_id}/resume", data={"wait_id": wait.wait_id, "field.answer": '"maybe"'}
    )
    answer = await browser.post(
        f"/ui/jobs/{job_id}/resume", data={"wait_id": wait.wait_id, **fields}
    )
    result = await client.wait_for_result(job_id)
    again = await browser.post(
        f"/ui/jobs/{job_id}/resume", data={"wait_id": wait.wait_id, **fields}
    )

    assert "May it go out?" in page
    assert re.findall(r'name="(field\.\w+)"', page) == [
        "field.amount",
        "field.answer",
        "field.final",
        "field.note",
    ]
    assert "In euros" in page
    assert (refused.status_code, answer.status_code, again.status_code) == (409, 303, 404)
    assert result.results["ask"]["payload"] == {"answer": "yes", "amount": 12, "final": False}


@pytest.mark.usefixtures("worker")
async def test_a_job_shows_its_plan_with_the_cursor_its_snapshot_and_its_timeline(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    job_id = await waiting_job(client)
    await client.memory("ada").add("Mara lives in Porto.")

    page = (await browser.get(f"/ui/jobs/{job_id}")).text
    snapshot = await browser.get(f"/ui/jobs/{job_id}/snapshot")
    timeline = await browser.get(f"/ui/jobs/{job_id}/timeline")

    assert re.search(r'aria-current="step">\s*<strong>ask</strong>', page)
    assert (snapshot.status_code, timeline.status_code) == (200, 200)
    assert "Nothing has changed." in snapshot.text
    assert "wait opened" in timeline.text


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_extended_and_a_job_forked_and_cancelled(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    job_id = await waiting_job(client)
    wait = await client.find_open_wait(job_id)
    assert wait is not None

    await browser.post(f"/ui/jobs/{job_id}/extend", data={"wait_id": wait.wait_id, "days": "7"})
    extended = await client.find_open_wait(job_id)
    forked = await browser.post(
        f"/ui/jobs/{job_id}/fork", data={"wait": wait.wait_id, "as_job": "other"}
    )
    await browser.post(f"/ui/jobs/{job_id}/cancel")
    await until(client, job_id, "cancelled")
    ended = await browser.get(f"/ui/jobs/{job_id}")

    assert extended is not None
    assert (extended.deadline - wait.deadline).days == 7
    assert forked.headers["Location"] == "/ui/jobs/other?done=forked"
    assert "hx-trigger" not in ended.text


@pytest.mark.usefixtures("worker")
async def test_several_jobs_are_cancelled_by_their_filter_and_others_are_left(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    mine = [await waiting_job(client) for _ in range(2)]
    other = await waiting_job(client, agent_id="bert")
    async with asyncio.timeout(30):
        listed = ""
        while any(one not in listed for one in (*mine, other)):
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event
            listed = (await browser.get("/ui/jobs?state=waiting")).text

    answer = await browser.post(
        "/ui/jobs?agent_id=ada&state=waiting", data={"action": "cancel", "every": "true"}
    )
    for job_id in mine:
        await until(client, job_id, "cancelled")
    refused = await browser.post("/ui/jobs", data={"action": "pause", "job": [mine[0], "none"]})

    assert "Cancelled: 2. Failed: 0." in answer.text
    assert (await client.describe_job(other)).state == "waiting"
    assert "Paused: 0. Failed: 2." in refused.text


@pytest.mark.usefixtures("worker")
async def test_the_page_of_another_agents_job_is_like_one_that_there_is_not(
    browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    job_id = await waiting_job(client)
    async with browse(await new_key(agents=("bert",))) as http:
        page = await http.get(f"/ui/jobs/{job_id}")
        cancelled = await http.post("/ui/jobs", data={"action": "cancel", "job": job_id})

    assert page.status_code == 404
    assert "May it go out?" not in page.text
    assert "Cancelled: 0. Failed: 1." in cancelled.text
    assert (await client.describe_job(job_id)).state == "waiting"
