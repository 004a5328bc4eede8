"""A valid request for each route of the page, and what its key must allow: a route without one here fails the tests."""

from dataclasses import dataclass, field

JOB, KEY = "/ui/jobs/no-such-job", "no-such-fact"
WAIT = {"wait_id": "no-such-job/w1"}


@dataclass(frozen=True, kw_only=True)
class PageCase:
    """A request about agent ada."""

    action: str | None  # None: no key is needed, or any key is enough
    form: dict[str, str] = field(default_factory=dict)
    of_job: bool = False
    of_tenant: bool = False


CASES: dict[str, PageCase] = {
    "GET /ui/sign-in": PageCase(action=None),
    "POST /ui/sign-in": PageCase(action=None),
    "POST /ui/sign-out": PageCase(action=None),
    "GET /ui": PageCase(action=None),
    "GET /ui/agents": PageCase(action=None),
    "GET /ui/jobs": PageCase(action="jobs"),
    "POST /ui/jobs": PageCase(action="jobs", form={"action": "pause"}),
    "POST /ui/jobs/apply": PageCase(action="jobs", form={"action": "pause", "job": "none"}),
    "GET /ui/jobs/{job_id}": PageCase(action="jobs", of_job=True),
    "GET /ui/jobs/{job_id}/snapshot": PageCase(action="jobs", of_job=True),
    "GET /ui/jobs/{job_id}/timeline": PageCase(action="jobs", of_job=True),
    "POST /ui/jobs/{job_id}/resume": PageCase(action="jobs", form=WAIT, of_job=True),
    "GET /ui/jobs/{job_id}/override": PageCase(action="jobs", of_job=True),
    "POST /ui/jobs/{job_id}/override": PageCase(action="jobs", form={"reason": "x"}, of_job=True),
    "POST /ui/jobs/{job_id}/extend": PageCase(
        action="jobs", form={**WAIT, "days": "1"}, of_job=True
    ),
    "POST /ui/jobs/{job_id}/fork": PageCase(
        action="jobs", form={"as_job": "other", "wait": "1"}, of_job=True
    ),
    "POST /ui/jobs/{job_id}/{action}": PageCase(action="jobs", of_job=True),
    "GET /ui/memory": PageCase(action="read"),
    "POST /ui/memory/facts": PageCase(
        action="write", form={"subject": "Mara", "predicate": "lives_in", "value": "Porto"}
    ),
    "GET /ui/memory/facts/{key}": PageCase(action="read"),
    "POST /ui/memory/facts/{key}": PageCase(action="write", form={"value": "Porto"}),
    "POST /ui/memory/facts/{key}/{action}": PageCase(action="write"),
    "GET /ui/memory/entries": PageCase(action="read"),
    "POST /ui/memory/entries": PageCase(action="write", form={"action": "pin", "entry": "none"}),
    "POST /ui/memory/entries/apply": PageCase(
        action="write", form={"action": "pin", "entry": "none"}
    ),
    "GET /ui/memory/entries/{key}": PageCase(action="read"),
    "POST /ui/memory/entries/{key}": PageCase(
        action="write", form={"content": "Tea.", "entry_type": "knowledge"}
    ),
    "POST /ui/memory/entries/{key}/{action}": PageCase(action="write"),
    "GET /ui/memory/search": PageCase(action="read"),
    "GET /ui/memory/auto-retrieval": PageCase(action="read"),
    "POST /ui/memory/auto-retrieval": PageCase(
        action="write", form={"results": "4", "score": "0.5"}
    ),
    "POST /ui/memory/auto-retrieval/preview": PageCase(action="read", form={"message": "Porto"}),
    "GET /ui/memory/notes": PageCase(action="read"),
    "POST /ui/memory/notes": PageCase(action="write"),
    "POST /ui/memory/notes/add": PageCase(action="write", form={"note": "Mara.md"}),
    "POST /ui/memory/notes/remove": PageCase(action="write", form={"note": "Mara.md"}),
    "GET /ui/memory/forget": PageCase(action="forget"),
    "POST /ui/memory/forget": PageCase(action="forget", form={"topic": "Porto", "token": "x"}),
    "POST /ui/memory/forget/preview": PageCase(action="forget", form={"topic": "Porto"}),
    "POST /ui/memory/forget/lift": PageCase(action="forget", form={"keep_out": "x"}),
    "GET /ui/graph": PageCase(action="read"),
    "GET /ui/costs": PageCase(action="read"),
    "GET /ui/maintenance": PageCase(action="read", of_tenant=True),
    "GET /ui/maintenance/policy": PageCase(action="read", of_tenant=True),
    "POST /ui/maintenance/policy": PageCase(action="admin", of_tenant=True),
    "POST /ui/maintenance/run": PageCase(action="admin", form={"kind": "nightly"}, of_tenant=True),
    "POST /ui/maintenance/{kind}/{action}": PageCase(action="admin", of_tenant=True),
    "GET /ui/live/jobs": PageCase(action="jobs"),
    "GET /ui/live/jobs/{job_id}": PageCase(action="jobs", of_job=True),
    "GET /ui/live/memory": PageCase(action="read"),
    "GET /ui/live/maintenance": PageCase(action="read", of_tenant=True),
    "GET /ui/audit": PageCase(action="admin", of_tenant=True),
}
