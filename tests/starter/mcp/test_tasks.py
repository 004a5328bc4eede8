"""Jobs as tasks: a client that declares the extension starts one, answers its wait, and reads its end."""

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from mcp import MCPError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.waits import JobWait
from mnestic.starter.mcp.job_tasks import TaskAnswer, answer_of, elicitation_of
from tests.starter.case_files import read_cases
from tests.starter.mcp.approval import PLAN
from tests.starter.mcp.conftest import Connect
from tests.starter.mcp.task_requests import TaskExtension, about, started, until

EXTENSIONS = [TaskExtension()]


def arguments() -> dict[str, Any]:
    name = f"order-{uuid.uuid4().hex[:8]}"
    return {"plan": PLAN, "session_id": name, "job_id": name}


def wait_of(**more: Any) -> JobWait:
    return JobWait.model_construct(
        wait_id="j/w1", key="approval", opened_at=datetime.now(UTC), ask=None, **more
    )


@pytest.mark.usefixtures("worker")
async def test_a_wait_is_answered_through_its_task(connect: Connect, agent: str) -> None:
    async with connect(agent, extensions=EXTENSIONS) as client:
        created = await started(client, **arguments())
        waiting = await until(client, created.task_id, "input_required")
        ((key, request),) = waiting["inputRequests"].items()
        answer = {"action": "accept", "content": {"by": "Ida", "outcome": "approved"}}
        responses = {key: answer, "unknown": {"action": "accept"}}
        acknowledged = await about(client, "update", created.task_id, inputResponses=responses)
        again = await about(client, "update", created.task_id, inputResponses=responses)
        ended = await until(client, created.task_id, "completed")
        await about(client, "cancel", created.task_id)

    assert waiting["ttlMs"] is None
    assert waiting["pollIntervalMs"] > 0
    assert waiting["createdAt"] <= waiting["lastUpdatedAt"] <= ended["lastUpdatedAt"]
    assert request["method"] == "elicitation/create"
    assert request["params"]["message"] == "Order for 1900 EUR?"
    schema = request["params"]["requestedSchema"]
    assert schema["properties"]["by"] == {"type": "string"}
    assert schema["properties"]["outcome"]["enum"] == ["approved", "rejected"]
    assert schema["required"] == ["by", "outcome"]
    assert acknowledged["resultType"] == again["resultType"] == "complete"
    assert "inputRequests" not in ended
    result = ended["result"]
    assert result["isError"] is False
    assert result["structuredContent"]["job_id"] == created.task_id
    assert result["structuredContent"]["results"]["approval"]["payload"] == {"by": "Ida"}


@pytest.mark.usefixtures("worker")
async def test_an_answer_that_the_wait_refuses_leaves_it_open(connect: Connect, agent: str) -> None:
    async with connect(agent, extensions=EXTENSIONS) as client:
        task_id = (await started(client, **arguments())).task_id
        (key,) = (await until(client, task_id, "input_required"))["inputRequests"]
        for answer in (
            {"action": "accept", "content": {"outcome": "approved"}},
            {"action": "accept", "content": {"by": "Ida", "outcome": "perhaps"}},
            {"action": "decline"},
            {"action": "shrug"},
        ):
            with pytest.raises(MCPError) as refused:
                await about(client, "update", task_id, inputResponses={key: answer})
            assert refused.value.code == -32602
        still = await about(client, "get", task_id)
        await about(client, "cancel", task_id)
        cancelled = await until(client, task_id, "cancelled")

    assert list(still["inputRequests"]) == [key]
    assert "result" not in cancelled


@pytest.mark.usefixtures("worker")
async def test_a_client_without_the_extension_gets_no_task(connect: Connect, agent: str) -> None:
    async with connect(agent) as client, connect(agent, mode="legacy") as legacy:
        result = await client.call_tool("start_job", arguments())
        older = await legacy.call_tool("start_job", arguments())
        job_id = (result.structured_content or {})["job_id"]
        for connected, code in ((client, -32021), (legacy, -32601)):
            with pytest.raises(MCPError) as refused:
                await about(connected, "get", job_id)
            assert refused.value.code == code

    assert not older.is_error


@pytest.mark.parametrize(
    ("form", "outcomes", "properties", "required"),
    read_cases(__file__, "forms"),
)
def test_a_wait_asks_for_its_form_and_for_the_outcome_if_there_is_a_choice(
    form: dict[str, Any] | None,
    outcomes: list[str],
    properties: list[str],
    required: list[str],
) -> None:
    schema = elicitation_of(wait_of(form=form, outcomes=outcomes))["params"]["requestedSchema"]

    assert set(schema["properties"]) == set(properties)
    assert schema["required"] == required


@pytest.mark.parametrize(
    ("form", "outcomes", "content", "expected"),
    read_cases(__file__, "answers"),
)
def test_an_answer_has_an_outcome_and_a_payload(
    form: dict[str, Any] | None,
    outcomes: list[str],
    content: dict[str, Any] | None,
    expected: list[Any],
) -> None:
    wait = wait_of(form=form, outcomes=outcomes)

    assert answer_of(wait, TaskAnswer(action="accept", content=content)) == tuple(expected)
    with pytest.raises(InvalidInputError, match="decline"):
        answer_of(wait, TaskAnswer(action="decline"))
