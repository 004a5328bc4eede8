"""What each activity of the workers is asked, read from `activities.yaml`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.security.calls import filled
from tests.starter.case_files import read_cases

ACTIVITIES: Mapping[str, Mapping[str, Any]] = read_cases(__file__, "activities")
NOW = datetime.now(UTC)
# An id of an operation is new in each run, so that nothing is answered from the ledger.
_JOB, _RUN = "j1", f"{NOW:%H%M%S%f}"
SNAPSHOT = {
    "id": "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469",
    "sha256": "a" * 64,
    "size_bytes": 1,
    "schema_version": 2,
    "snapshot_at": NOW.isoformat(),
    **dict.fromkeys(("memory_revision", "message_count", "episode_count", "record_count"), 1),
}
CONTEXT = {"cursor_node": "k", "plan_decision_id": "p"}


def asked(
    name: str,
    tenant_id: str,
    *,
    snapshot: Mapping[str, Any] = SNAPSHOT,
    context: Mapping[str, Any] = CONTEXT,
    wait_id: str = "j1/w1",
    result: Mapping[str, Any] | None = None,
    forgetting_id: str = "f",
) -> dict[str, Any]:
    """What an activity is asked about the memory of a tenant's agent `ada`; by default of what there is not."""
    scope = {"tenant_id": tenant_id, "agent_id": "ada", "session_id": "s1"}
    soon = (NOW + timedelta(days=1)).isoformat()
    wait = {"wait_id": wait_id, "key": "approval", "outcomes": ["resumed"], "policy": "rebase"}
    origin = {"job_id": _JOB, "wait_id": wait_id, "snapshot_id": snapshot["id"]}
    values = {
        "now": NOW.isoformat(),
        "soon": soon,
        "later": (NOW + timedelta(days=90)).isoformat(),
        "wait": wait | {"deadline": soon, "snapshot": snapshot},
        "context": dict(context) | {"inputs": {"said": "quokka"}},
        "origin": origin | {"sha256": snapshot["sha256"]},
        "request": {"request_id": "r1", "payload": {"said": "quokka"}},
        "result": result or {"ref": snapshot["id"], "sha256": "a" * 64, "size_bytes": 1},
        "forgetting": forgetting_id,
    }
    operation = {"key": f"{_JOB}/0/9/{name}/{_RUN}", "name": name, "job_id": _JOB}
    given: dict[str, Any] = filled(ACTIVITIES[name]["asked"], values)
    return {"scope": scope, "operation": operation, **scope, **given}
