"""A valid request for each route of the HTTP API, and what its key must allow: a route without one here fails the tests."""

from dataclasses import dataclass, field
from typing import Any

MESSAGE = {"speaker": "Mara", "content": "I moved to Porto.", "session_id": "s", "source_id": "1"}
NIGHTLY = {"kind": "nightly"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request of agent ada."""

    action: str | None  # None: no key is needed
    params: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    path: dict[str, str] = field(default_factory=dict)
    of_tenant: bool = False


CASES: dict[str, Case] = {
    "GET /health": Case(action=None),
    "POST /ingest": Case(action="write", body={"messages": [MESSAGE]}),
    "GET /retrieve": Case(action="read", params={"q": "Where does Mara live?"}),
    "GET /api/agents": Case(action="read", of_tenant=True),
    "GET /api/memory/export": Case(action="read"),
    "GET /api/audit": Case(action="admin", of_tenant=True),
    "POST /jobs/{kind}": Case(action="admin", path=NIGHTLY, body={}, of_tenant=True),
    "GET /api/maintenance/reports": Case(action="read", of_tenant=True),
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
}
