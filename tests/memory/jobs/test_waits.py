from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.jobs.snapshots import SnapshotRef
from mnestic.memory.jobs.waits import OpenWait, Override, ResumeRequest, refusal

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


@pytest.mark.parametrize(
    ("asked", "open_wait", "why"),
    [
        ({}, OPEN, None),
        ({"wait_id": "j1/w2"}, OPEN, None),
        ({"outcome": "rejected"}, OPEN, None),
        ({"expected_sha256": "a" * 64}, OPEN, None),
        ({}, None, "it is not waiting"),
        ({"wait_id": "j1/w1"}, None, "wait j1/w1 is not open"),
        ({"wait_id": "j1/w1"}, OPEN, "wait j1/w1 is not open, the job now waits at j1/w2"),
        ({"wait_id": "j2/w2"}, OPEN, "wait j2/w2 is not a wait of this job"),
        ({"wait_id": "j2/w2"}, None, "wait j2/w2 is not a wait of this job"),
        ({"wait_id": "w2"}, OPEN, "wait w2 is not a wait of this job"),
        ({"wait_id": ""}, OPEN, "wait  is not a wait of this job"),
        (
            {"outcome": "timeout"},
            OPEN,
            "wait j1/w2 has no outcome 'timeout'; it has approved, rejected",
        ),
        ({"outcome": "timeout", "override": {"reason": "lost"}}, OPEN, None),
        (
            {"outcome": "no", "override": {"reason": "lost"}},
            OPEN,
            "wait j1/w2 has no outcome 'no'; it has approved, rejected, timeout",
        ),
        (
            {"expected_sha256": "b" * 64},
            OPEN,
            f"the snapshot of wait j1/w2 has sha256 {'a' * 64}, not {'b' * 64}",
        ),
        (
            {"wait_id": "j1/w1", "outcome": "no", "expected_sha256": "b"},
            OPEN,
            "wait j1/w1 is not open, the job now waits at j1/w2",
        ),
    ],
)
def test_a_resume_is_taken_or_refused_in_words(
    asked: dict[str, Any], open_wait: OpenWait | None, why: str | None
) -> None:
    request = ResumeRequest.model_validate({"request_id": "r1", "outcome": "approved"} | asked)

    told = refusal(request, job_id="j1", open_wait=open_wait)

    assert told == why


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"amount": 3}, None),
        ({"amount": -3}, "payload.amount: -3 is less than the minimum of 0"),
        (None, 'payload: null is not of type "object"'),
    ],
)
def test_a_payload_is_held_to_the_form_of_its_wait(payload: Any, why: str | None) -> None:
    form = {"type": "object", "properties": {"amount": {"minimum": 0}}}
    request = ResumeRequest(request_id="r1", outcome="approved", payload=payload)

    told = refusal(request, job_id="j1", open_wait=OPEN.model_copy(update={"form": form}))

    assert told == why


def test_an_override_by_the_way_of_the_timeout_is_held_to_no_form() -> None:
    override = Override(reason="lost")
    request = ResumeRequest(request_id="r1", outcome="timeout", override=override)

    told = refusal(
        request, job_id="j1", open_wait=OPEN.model_copy(update={"form": {"type": "string"}})
    )

    assert told is None


def test_where_a_request_goes_wrong_is_told_before_its_payload() -> None:
    request = ResumeRequest(request_id="r1", outcome="no", payload=3)

    told = refusal(
        request, job_id="j1", open_wait=OPEN.model_copy(update={"form": {"type": "string"}})
    )

    assert told == "wait j1/w2 has no outcome 'no'; it has approved, rejected"
