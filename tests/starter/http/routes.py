"""The requests of `routes.yaml`: a route without one there fails the tests."""

from dataclasses import dataclass, field
from typing import Any

from mnestic.memory.jobs.memory_operations import OPERATIONS, access_of
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
PLAN: dict[str, Any] = CASES["POST /v1/jobs"].body["plan"]


def denied_target(shown: str, operation: Any, arguments: Any) -> str:
    """What the audit log says of a call that a key does not allow: of an operation of a contract, also what it names."""
    named = access_of(operation, arguments)[1] if operation in OPERATIONS else ""
    return f"{shown}: {named}" if named else shown
