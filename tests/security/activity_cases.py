"""What each activity of the worker is asked, and the table that it needs."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.forgetting.requests import ForgetRequest
from mnestic.memory.operations import Operation
from mnestic.memory.scope import Scope
from tests.security.failing_world import WORD, World


def cases(world: World) -> dict[str, tuple[str | None, dict[str, Any]]]:
    """What each activity is asked, and the table that it needs; none if it asks no database."""
    tenant_id = world.client.settings.tenant_id
    scope = Scope(tenant_id=tenant_id, agent_id="ada", session_id="s1")
    agent = {"tenant_id": tenant_id, "agent_id": "ada"}
    hearer = {"tenant_id": tenant_id, "agent_id": "eve"}  # whose messages nobody learns meanwhile
    forget = ForgetRequest(**agent, forgetting_id=world.forgetting_id).model_dump()
    (wait,) = world.job.waits
    snapshot = wait.context.memory_snapshot
    assert snapshot is not None
    context = wait.context.model_dump(mode="json")
    open_wait = {
        "wait_id": wait.wait_id,
        "key": wait.key,
        "outcomes": ["resumed"],
        "policy": wait.policy,
        "deadline": wait.deadline.isoformat(),
        "snapshot": snapshot.model_dump(mode="json"),
    }
    origin = {
        "job_id": "j1",
        "wait_id": wait.wait_id,
        "snapshot_id": snapshot.id,
        "sha256": snapshot.sha256,
    }
    request = {"request_id": "r1", "payload": {"said": WORD}}
    now = datetime.now(UTC)

    def of_a_job(name: str, **asked: Any) -> dict[str, Any]:
        operation = Operation(key=f"j1/0/9/{name}/{uuid.uuid4().hex}", name=name, job_id="j1")
        return {
            "scope": scope.model_dump(),
            "operation": operation.model_dump(),
            **asked,
        }

    message = {"role": "user", "content": f"The {WORD} came."}
    return {
        "mnestic.remember": (
            "long_term_record",
            of_a_job(
                "remember",
                write={
                    "message": message,
                    "records": [{"namespace": "animals", "key": "two", "value": {"is": WORD}}],
                },
            ),
        ),
        "mnestic.recall": (
            "long_term_record",
            of_a_job(
                "recall",
                query={
                    "records": [{"namespace": "animals"}],
                    "search": {"question": f"the {WORD}"},
                },
                save_as="found",
            ),
        ),
        "mnestic.open_wait": (
            "memory_snapshot",
            of_a_job(
                "open_wait",
                wait_id="j1/w9",
                key="k",
                policy="rebase",
                context=context | {"inputs": {"said": WORD}},
                opened_at=now.isoformat(),
                deadline=(now + timedelta(days=1)).isoformat(),
            ),
        ),
        "mnestic.extend_wait": (
            "job_wait",
            of_a_job(
                "extend_wait",
                wait_id=wait.wait_id,
                request={"until": (now + timedelta(days=90)).isoformat()},
            ),
        ),
        "mnestic.restore": (
            "memory_snapshot",
            of_a_job("restore", wait=open_wait, request=request, restored_at=now.isoformat()),
        ),
        "mnestic.find_arrival": (None, {"request": request, "opened_at": now.isoformat()}),
        "mnestic.fork": ("memory_snapshot", of_a_job("fork", job_id="j7", origin=origin)),
        "mnestic.think": (
            "working_memory",
            of_a_job(
                "think", prompt=f"What of the {WORD}?", history=5, max_tokens=50, save_as="thought"
            ),
        ),
        "mnestic.keep_result": (
            "tool_result",
            of_a_job("keep_result", node="n", result={"is": WORD}),
        ),
        "mnestic.load_result": (
            "tool_result",
            of_a_job("load_result", ref=world.result),
        ),
        "mnestic.end_job": (
            "episode",
            of_a_job("end_job", plan="p", outcome="completed", cause=WORD, waits=1),
        ),
        "mnestic.read_session": ("resource", of_a_job("read_session", conversation="chat")),
        "mnestic.keep_signals": (
            "resource",
            agent
            | {
                "signals": [
                    {
                        "name": "interaction",
                        "at": now.isoformat(),
                        "size_bytes": 9,
                        "body": {"speaker": "Mara", "content": f"The {WORD} is here."},
                    }
                ]
            },
        ),
        "mnestic.list_facts": ("fact", of_a_job("list_facts", select={})),
        "mnestic.learn_exchange": (
            "resource",
            of_a_job(
                "learn_exchange",
                exchange={"speaker": "Mara", "content": f"I saw a {WORD}.", "source_id": "e1"},
            ),
        ),
        "mnestic.extract": ("ingest_state", hearer),
        "mnestic.learn": ("ingest_state", hearer),
        "mnestic.embed": ("corpus", agent),
        "mnestic.purge_topic": ("resource", forget | {"table": "resource"}),
        "mnestic.finish_forgetting": ("forgetting", forget),
        "mnestic.renew_statistics": ("forgetting", forget),
    }
