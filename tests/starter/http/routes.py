"""A valid request for each route of the HTTP API, and what its key must allow: a route without one here fails the tests."""

from dataclasses import dataclass, field
from typing import Any

MESSAGE = {"speaker": "Mara", "content": "I moved to Porto.", "session_id": "s", "source_id": "1"}
NIGHTLY = {"kind": "nightly"}
JOB = {"job_id": "no-such-job"}
NO_ENTRY = {"key": "no-such-entry"}
PLAN = {
    "name": "asking",
    "nodes": [
        {
            "id": "ask",
            "kind": "wait",
            "key": "ask",
            "ask": "May it go out?",
            "timeout": "21d",
            "on": {"resumed": "end", "timeout": "end"},
        }
    ],
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request of agent ada."""

    action: str | None  # None: no key is needed
    params: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    path: dict[str, str] = field(default_factory=dict)
    of_tenant: bool = False
    of_job: bool = False
    changes: bool = True  # of a request that is no GET


CASES: dict[str, Case] = {
    "GET /health": Case(action=None),
    "GET /health/detailed": Case(action="admin", of_tenant=True),
    "POST /ingest": Case(action="write", body={"messages": [MESSAGE]}),
    "GET /retrieve": Case(action="read", params={"q": "Where does Mara live?"}),
    "GET /api/memory/search": Case(action="read", params={"q": "Where does Mara live?"}),
    "GET /api/memory/search/why": Case(
        action="read", params={"q": "Where does Mara live?", "expect": "none"}
    ),
    "GET /api/memory/facts": Case(action="read"),
    "POST /api/memory/facts": Case(
        action="write", body={"subject": "Mara", "predicate": "lives_in", "value": "Porto"}
    ),
    "DELETE /api/memory/facts/{key}": Case(action="write", path={"key": "no-such-fact"}),
    "PATCH /api/memory/facts/{key}": Case(
        action="write", path={"key": "no-such-fact"}, body={"value": "Lisbon"}
    ),
    "GET /api/memory/entries/{key}": Case(action="read", path=NO_ENTRY),
    "PATCH /api/memory/entries/{key}": Case(action="write", path=NO_ENTRY, body={"tags": ["tea"]}),
    "DELETE /api/memory/entries/{key}": Case(action="write", path=NO_ENTRY),
    "POST /api/memory/entries/{key}/archive": Case(action="write", path=NO_ENTRY),
    "POST /api/memory/entries/{key}/restore": Case(action="write", path=NO_ENTRY),
    "POST /api/memory/entries/{key}/reinstate": Case(action="write", path=NO_ENTRY),
    "POST /api/memory/forget/preview": Case(
        action="forget", body={"topic": "Porto"}, changes=False
    ),
    "POST /api/memory/forget": Case(action="forget", body={"topic": "Porto", "token": "none"}),
    "POST /extract": Case(
        action="write", body={"speaker": "Mara", "content": "I moved to Porto."}, changes=False
    ),
    "POST /summarize": Case(action="write", body={}),
    "GET /items": Case(action="read"),
    "GET /categories": Case(action="read"),
    "GET /context": Case(action="read", params={"q": "Where does Mara live?"}),
    "GET /api/memory/events": Case(action="read"),
    "GET /api/memory/settings": Case(action="read"),
    "PATCH /api/memory/settings": Case(action="write", body={"auto_retrieve_max_results": 6}),
    "GET /api/memory/stats": Case(action="read"),
    "GET /api/memory/retrievals": Case(action="read"),
    "GET /api/agents": Case(action="read", of_tenant=True),
    "GET /api/memory/export": Case(action="read"),
    "GET /metrics": Case(action="read", of_tenant=True),
    "GET /api/audit": Case(action="admin", of_tenant=True),
    "POST /jobs/{kind}": Case(action="admin", path=NIGHTLY, body={}, of_tenant=True),
    "GET /api/maintenance/reports": Case(action="read", of_tenant=True),
    "GET /api/maintenance/runs/{run_id}/events": Case(
        action="read", path={"run_id": "no-such-run"}, of_tenant=True
    ),
    "GET /api/maintenance/policy": Case(action="read", of_tenant=True),
    "PATCH /api/maintenance/policy": Case(
        action="admin", body={"path": "cleanup.max_entries", "value": 500}, of_tenant=True
    ),
    "GET /api/schedules": Case(action="read", of_tenant=True),
    "POST /api/schedules/{kind}/pause": Case(action="admin", path=NIGHTLY, body={}, of_tenant=True),
    "POST /api/schedules/{kind}/resume": Case(
        action="admin", path=NIGHTLY, body={}, of_tenant=True
    ),
    "POST /api/schedules/{kind}/backfill": Case(
        action="admin",
        path=NIGHTLY,
        body={"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"},
        of_tenant=True,
    ),
    "POST /api/jobs": Case(action="jobs", body={"plan": PLAN, "session_id": "s"}),
    "GET /api/jobs": Case(action="jobs"),
    "GET /api/jobs/{job_id}": Case(action="jobs", path=JOB, of_job=True),
    "GET /api/jobs/{job_id}/events": Case(action="jobs", path=JOB, of_job=True),
    "GET /api/jobs/{job_id}/wait": Case(action="jobs", path=JOB, of_job=True),
    "GET /api/jobs/{job_id}/resumption": Case(action="jobs", path=JOB, of_job=True),
    "GET /api/jobs/{job_id}/diff": Case(action="jobs", path=JOB, of_job=True),
    "POST /api/jobs/{job_id}/resume": Case(action="jobs", path=JOB, body={}, of_job=True),
    "POST /api/jobs/{job_id}/extend": Case(
        action="jobs", path=JOB, body={"by_seconds": 60}, of_job=True
    ),
    "POST /api/jobs/{job_id}/fork": Case(action="jobs", path=JOB, body={}, of_job=True),
    "POST /api/jobs/{job_id}/pause": Case(action="jobs", path=JOB, of_job=True),
    "POST /api/jobs/{job_id}/unpause": Case(action="jobs", path=JOB, of_job=True),
    "POST /api/jobs/{job_id}/cancel": Case(action="jobs", path=JOB, of_job=True),
}
