from datetime import UTC, datetime
from typing import Any

from mnestic.memory.jobs.refusals import resume_refusal
from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import OpenWait, ResumeRequest
from tests.memory.tables import tables, wrong

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPEN = OpenWait(
    wait_id="j1/w2",
    key="approval",
    outcomes=("approved", "rejected"),
    policy="rebase",
    deadline=NOON,
    snapshot=SnapshotRef(
        id="n1",
        sha256="a" * 64,
        size_bytes=1,
        schema_version=1,
        memory_revision=1,
        message_count=0,
        episode_count=0,
        record_count=0,
        snapshot_at=NOON,
    ),
)


def test_a_resume_is_taken_or_refused_in_words() -> None:
    def refused(asked: dict[str, Any], more: dict[str, Any] | None) -> str | None:
        request = ResumeRequest.model_validate({"request_id": "r1", "outcome": "approved"} | asked)
        wait = None if more is None else OPEN.model_copy(update=more)
        return resume_refusal(request, job_id="j1", open_wait=wait)

    assert wrong(tables(__file__)["refusals"], refused) == []
