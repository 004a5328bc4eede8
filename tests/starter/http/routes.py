"""The requests of `routes.yaml`: a route without one there fails the tests."""

from dataclasses import dataclass, field
from typing import Any

from tests.starter.case_files import read_cases


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


CASES = {name: Case(**fields) for name, fields in read_cases(__file__, "routes").items()}
PLAN: dict[str, Any] = CASES["POST /api/jobs"].body["plan"]
