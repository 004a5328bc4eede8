"""A valid request for each route of the HTTP API, and what its key must allow: a route without one here fails the tests."""

from dataclasses import dataclass, field
from typing import Any

MESSAGE = {"speaker": "Mara", "content": "I moved to Porto.", "session_id": "s", "source_id": "1"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request of agent ada."""

    action: str | None  # None: no key is needed
    params: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    of_tenant: bool = False


CASES: dict[str, Case] = {
    "GET /health": Case(action=None),
    "POST /ingest": Case(action="write", body={"messages": [MESSAGE]}),
    "GET /retrieve": Case(action="read", params={"q": "Where does Mara live?"}),
}
