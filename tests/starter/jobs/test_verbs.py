"""Each verb of jobs by each way in: `verbs.yaml` has what is sent, what is answered, and what has become of the job."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from tests.job_states import until_state
from tests.starter.case_files import filled, read_cases
from tests.starter.cli.conftest import Ask
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.pages.conftest import browsing
from tests.starter.mcp.conftest import Connect

CASES: dict[str, Any] = read_cases(__file__, "verbs")
PLAN = json.dumps(CASES["plan"])
WAYS = {"cli": ("cli",), "http": ("http",), "page": ("page",), "mcp": ("mcp", "stranger")}
Answer = tuple[object, str]
Send = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def by_cli(ask: Ask, tmp_path: Path) -> Send:
    (tmp_path / "plan.json").write_text(PLAN, encoding="utf-8")

    async def send(*words: str) -> Answer:
        done = await ask(*words)
        return done.code, done.out + done.err

    return send


@pytest.fixture
async def by_http(app: FastAPI, new_key: NewKey) -> AsyncIterator[Send]:
    async with opened(app, await new_key()) as http:

        async def send(method: str, path: str, body: Any = None) -> Answer:
            answer = await http.request(method, path, json=body)
            return answer.status_code, answer.text

        yield send


@pytest.fixture
async def by_page(app: FastAPI, new_key: NewKey) -> AsyncIterator[Send]:
    async with browsing(app, await new_key(agents=("*",))) as http:

        async def send(method: str, path: str, form: Any = None) -> Answer:
            answer = await http.request(method, path, data=form)
            return answer.status_code, answer.headers.get("Location", "") + answer.text

        yield send


def by_mcp(connect: Connect, agent: str) -> Send:
    async def send(tool: str, arguments: Any = None) -> Answer:
        async with connect(agent) as client:
            result = await client.call_tool(tool, arguments or {})
        return result.is_error, str(getattr(result.content[0], "text", ""))

    return send


@pytest.fixture
def sends(by_cli: Send, by_http: Send, by_page: Send, connect: Connect) -> dict[str, Send]:
    """The ways in."""
    tools = {name: by_mcp(connect, agent) for name, agent in (("mcp", "ada"), ("stranger", "eve"))}
    return {"cli": by_cli, "http": by_http, "page": by_page, **tools}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("way", WAYS)
async def test_each_verb_is_answered_and_has_its_effect(
    client: MnesticClient, sends: dict[str, Send], way: str
) -> None:
    job_id = f"by-{way}"
    if way == "page":
        plan = parse_plan(PLAN, source="test")
        await client.start_job(
            plan, agent_id="ada", session_id="s1", job_id=job_id, inputs={"name": "Mara"}
        )
        await until_state(client, job_id, "waiting")
    for step in CASES["verbs"]:
        for name in WAYS[way]:
            if name in step:
                await take(step, sends[name], name, client=client, job_id=job_id)


async def take(
    step: dict[str, Any], send: Send, way: str, *, client: MnesticClient, job_id: str
) -> None:
    """Sends what a step says, until it is answered so, and checks its effect."""
    arguments, (status, *texts) = (
        filled(step[way][name], {"plan": PLAN, "job": job_id, "wait": f"{job_id}/w1"})
        for name in ("send", "says")
    )
    before = await client.find_open_wait(job_id) if "days" in step else None
    async with asyncio.timeout(30):
        while True:
            answered, text = await send(*arguments)
            shown = " ".join(text.split())
            missing = [one for one in texts if one not in shown]
            if not (missing and step["verb"].startswith("list")):
                break
            await asyncio.sleep(0.05)  # Temporal's visibility sets no event
    assert (answered, missing) == (status, []), (step["verb"], shown)
    if before is not None:
        after = await client.find_open_wait(job_id)
        assert after is not None
        assert (after.deadline - before.deadline).days == step["days"]
    if "fork" in step:
        await until_state(client, f"{job_id}-b", "waiting")
        assert (await client.describe_job(f"{job_id}-b")).forked_from == f"{job_id}/w1"
    if "cancelled" in step:
        await until_state(client, f"{job_id}-b", "cancelled")
    if "then" in step:
        await until_state(client, job_id, step["then"])
    if step["verb"] == "resume":
        result = await client.wait_for_result(job_id)
        assert result.results["ask"]["payload"]["word"] == "dear"
