"""Memory and maintenance over HTTP, request after request: `walks.yaml` has what is sent and what is answered.

`entries` are there from the beginning, as e0 and so on; `is` is the status, and what the answer has at least;
 `keep` names what later requests are filled with.
"""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI

from mnestic.memory.names import maintenance_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import create_schedules
from mnestic.stores.postgres.memory import PostgresMemory
from tests.starter.case_files import at, differences, filled, read_cases
from tests.starter.http.conftest import NewKey, opened

WALKS: dict[str, Any] = read_cases(__file__, "walks")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("name", WALKS)
async def test_each_request_is_answered_after_those_before_it(
    app: FastAPI, new_key: NewKey, client: MnesticClient, memory: PostgresMemory, name: str
) -> None:
    walk, names = WALKS[name], {"tenant": client.settings.tenant_id}
    if walk.get("schedules"):
        await create_schedules(memory, client.temporal, client.settings)
    for number, entry in enumerate(walk.get("entries", ())):
        agent_id, fields = (
            entry.get("agent", "ada"),
            {k: v for k, v in entry.items() if k != "agent"},
        )
        names[f"e{number}"] = (await client.memory(agent_id).add(**fields)).id
    async with opened(app, await new_key(agents=(walk.get("agents", "ada"),))) as http:
        for step in walk["steps"]:
            method, path, *body = filled(step["send"], names)
            headers = {"Idempotency-Key": step["key"]} if "key" in step else {}
            status, *document = filled(step["is"], names)
            async with asyncio.timeout(30):
                while True:
                    answer = await http.request(
                        method, path, json=(body or [None])[0], headers=headers
                    )
                    missing = differences(answer.json(), document[0]) if document else []
                    if not missing or not step.get("until"):
                        break
                    await asyncio.sleep(
                        0.05
                    )  # neither Postgres nor Temporal's visibility sets an event

            assert (answer.status_code, missing) == (status, []), (step["send"], answer.text)
            for kept, place in step.get("keep", {}).items():
                names[kept] = str(at(answer.json(), place))


async def test_a_period_is_made_up_for_once_for_a_key(
    app: FastAPI, new_key: NewKey, client: MnesticClient, memory: PostgresMemory
) -> None:
    await create_schedules(memory, client.temporal, client.settings)
    path, key = "/v1/schedules/weekly/backfill", {"Idempotency-Key": "october"}
    period = {"since": "2026-10-01T00:00:00Z", "until": "2026-10-15T00:00:00Z"}
    later = {**period, "until": "2026-10-08T00:00:00Z"}
    name = maintenance_workflow_id(client.settings.tenant_id, "weekly")

    async with opened(app, await new_key(agents=("*",))) as http:
        answers = [await http.post(path, json=one, headers=key) for one in (period, period, later)]

    scheduler = client.temporal.get_workflow_handle(f"temporal-sys-scheduler:{name}")
    signals = [
        event.workflow_execution_signaled_event_attributes.signal_name
        async for event in scheduler.fetch_history_events()
    ]
    assert [answer.status_code for answer in answers] == [202, 202, 409]
    assert signals.count("patch") == 1
