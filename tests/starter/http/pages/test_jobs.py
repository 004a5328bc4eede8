"""Jobs on the page, without a browser: what is listed and shown, and what a form does."""

import asyncio
import json
import re

import httpx2
import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.pages.jobs import bulk
from mnestic.starter.jobs.plans import parse_plan
from tests.job_states import until_state
from tests.rotten_snapshots import rot_snapshots
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
    await until_state(client, job_id, "waiting")
    return job_id


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


def chosen_in(page: str) -> dict[str, list[str]]:
    """What the form of a preview would send."""
    names = ("job", "wait_id")
    return {name: re.findall(rf'name="{name}" value="([^"]*)"', page) for name in names}


@pytest.mark.usefixtures("worker")
async def test_several_jobs_are_resumed_by_their_filter_after_a_preview_and_others_are_left(
    browser: httpx2.AsyncClient, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = [await waiting_job(client, form=FORM) for _ in range(2)]
    another, other = await waiting_job(client), await waiting_job(client, agent_id="bert")
    async with asyncio.timeout(30):
        listed = ""
        while any(one not in listed for one in (*mine, another, other)):
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event
            listed = (await browser.get("/ui/jobs?state=waiting")).text

    filtered = "/ui/jobs?agent_id=ada&state=waiting"
    preview = (await browser.post(filtered, data={"action": "extend", "every": "true"})).text
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "MOST_AT_ONCE", 1)
        cut = (await browser.post(filtered, data={"action": "extend", "every": "true"})).text
    extended = await browser.post(
        "/ui/jobs/apply", data={"action": "extend", "days": "7", **chosen_in(preview)}
    )
    resumable = await browser.post("/ui/jobs", data={"action": "resume", "job": [*mine, another]})
    fields = {"field.answer": '"yes"', "field.amount": "12", "outcome": "resumed"}
    answer = {"action": "resume", **fields, **chosen_in(resumable.text)}
    resumed = await browser.post("/ui/jobs/apply", data=answer)
    results = [await client.wait_for_result(job_id) for job_id in mine]
    again = await browser.post("/ui/jobs/apply", data=answer)

    assert set(chosen_in(preview)["job"]) == {*mine, another}
    assert (len(chosen_in(cut)["job"]), "More jobs match" in cut) == (1, True)
    assert "More jobs match" not in preview
    assert "Extended: 3. Failed: 0." in extended.text
    assert chosen_in(resumable.text)["job"] == mine
    assert f"waits for another answer than {mine[0]}" in resumable.text
    assert "Resumed: 2. Failed: 0." in resumed.text
    assert {one.results["ask"]["payload"]["answer"] for one in results} == {"yes"}
    assert "Resumed: 0. Failed: 2." in again.text
    assert {(await client.describe_job(one)).state for one in (another, other)} == {"waiting"}


@pytest.mark.usefixtures("worker")
async def test_a_preview_lists_only_what_an_action_can_touch(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    job_id = await waiting_job(client)

    unpause = await browser.post("/ui/jobs", data={"action": "unpause", "job": [job_id, "none"]})
    cancel = await browser.post("/ui/jobs", data={"action": "cancel", "job": job_id})
    still = (await client.describe_job(job_id)).state
    done = await browser.post("/ui/jobs/apply", data={"action": "cancel", "job": [job_id, "none"]})
    malformed = await browser.post("/ui/jobs/apply", data={"action": "drop", "job": job_id})
    await until_state(client, job_id, "cancelled")

    assert chosen_in(unpause.text)["job"] == []
    assert re.search(rf"{job_id}</th><td[^>]*>its state is waiting<", unpause.text)
    assert chosen_in(cancel.text)["job"] == [job_id]
    assert still == "waiting"
    assert "Cancelled: 1. Failed: 1." in done.text
    assert malformed.status_code == 422


@pytest.mark.usefixtures("worker")
async def test_a_job_whose_snapshot_does_not_verify_continues_after_a_second_step(
    browser: httpx2.AsyncClient, client: MnesticClient, admin_url: str
) -> None:
    job_id = await waiting_job(client, form=FORM)
    wait = await client.find_open_wait(job_id)
    assert wait is not None
    rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)
    fields = {"field.answer": '"yes"', "field.amount": "12"}

    before = await browser.get(f"/ui/jobs/{job_id}/override")
    resumed = await browser.post(
        f"/ui/jobs/{job_id}/resume", data={"wait_id": wait.wait_id, **fields}
    )
    await until_state(client, job_id, "needs_attention")
    page = (await browser.get(f"/ui/jobs/{job_id}")).text
    step = (await browser.get(f"/ui/jobs/{job_id}/override")).text
    override = f"/ui/jobs/{job_id}/override"
    without_reason = await browser.post(override, data=fields)
    pinned = await browser.post(override, data={**fields, "reason": "so", "policy": "pinned"})
    done = await browser.post(override, data={**fields, "reason": "The disk was repaired."})
    result = await client.wait_for_result(job_id)
    (receipt,) = [one.receipt for one in (await client.describe_job(job_id)).waits]

    assert before.headers["Location"] == f"/ui/jobs/{job_id}"
    assert resumed.headers["Location"] == override
    assert f'href="{override}"' in page
    assert "The snapshot cannot be compared" in step
    assert "pinned" not in step
    assert (without_reason.status_code, pinned.status_code) == (422, 409)
    assert done.headers["Location"] == f"/ui/jobs/{job_id}?done=overridden"
    assert result.results["ask"]["payload"]["answer"] == "yes"
    assert receipt is not None
    assert receipt.override is not None
    assert receipt.override.reason == "The disk was repaired."
    assert (receipt.override.by or "").startswith("key/")


@pytest.mark.usefixtures("worker")
async def test_the_page_of_another_agents_job_is_like_one_that_there_is_not(
    browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    job_id = await waiting_job(client)
    async with browse(await new_key(agents=("bert",))) as http:
        page = await http.get(f"/ui/jobs/{job_id}")
        preview = await http.post("/ui/jobs", data={"action": "cancel", "job": job_id})
        cancelled = await http.post("/ui/jobs/apply", data={"action": "cancel", "job": job_id})

    assert page.status_code == 404
    assert "May it go out?" not in page.text + preview.text
    assert "Cancelled: 0. Failed: 1." in cancelled.text
    assert (await client.describe_job(job_id)).state == "waiting"


@pytest.mark.usefixtures("worker")
async def test_a_job_has_a_bar_for_each_segment_and_the_ledger(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    rule = {"segment_id": "conversation", "priority": 1, "max_tokens": 6}
    section = {"enabled": True, "max_tokens": 20, "segments": [rule]}
    await client.contracts().apply("ada", {"Memory": {"short_term": section}})
    says = {"kind": "remember", "message": {"content": "The audit begins today."}}
    (node,) = PLAN["nodes"]  # type: ignore[misc]
    nodes = [{**says, "id": "a", "next": "b"}, {**says, "id": "b", "next": node["id"]}, node]
    plan = parse_plan(json.dumps({**PLAN, "nodes": nodes}), source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id="s")
    await until_state(client, job_id, "waiting")

    page = (await browser.get(f"/ui/jobs/{job_id}")).text

    meter = '<meter aria-label="Tokens of conversation" min="0" max="6" value="5"></meter>'
    assert meter in page
    assert "evicted, 1" in page
    assert "The audit begins" not in page


@pytest.mark.usefixtures("worker")
async def test_a_finished_job_shows_its_result_and_who_answered_what(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    says = {
        "id": "say",
        "kind": "emit",
        "channel": "chat",
        "content": "Out it goes.",
        "next": "end",
    }
    (node,) = PLAN["nodes"]  # type: ignore[misc]
    nodes = [{**node, "on": {**node["on"], "resumed": "say"}}, says]
    job_id = await client.start_job({**PLAN, "nodes": nodes}, agent_id="ada", session_id="s")
    await until_state(client, job_id, "waiting")
    wait = await client.find_open_wait(job_id)
    assert wait is not None

    await browser.post(
        f"/ui/jobs/{job_id}/resume",
        data={
            "wait_id": wait.wait_id,
            "field.": "by all means",
        },
    )
    await client.wait_for_result(job_id)
    await until_state(client, job_id, "completed")
    page = (await browser.get(f"/ui/jobs/{job_id}")).text

    assert "Out it goes.</blockquote>" in page
    assert '<td data-label="Answer">by all means</td>' in page
    assert re.search(r'<td data-label="By">key/\w+</td>', page)
