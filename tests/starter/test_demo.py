"""The demo on a conversation of one session, which needs no wait, and what its report says."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.story import print_report
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.demo.counts import count_writes
from mnestic.starter.demo.scenario import DemoReport, demo_plan
from mnestic.starter.importers.turns import ConversationSession, Turn

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
REPORT = DemoReport(
    job_id="j",
    sessions=1,
    turns=1,
    waits=0,
    resumes_sent=0,
    resumes_applied=0,
    snapshots=(),
    restores_verified=0,
    drift=(),
    worker_kills=0,
    days_waited=0,
    writes_expected=7,
    writes_present=7,
    writes_duplicated=0,
    temporal_ui="http://127.0.0.1/j",
    elapsed_s=1.0,
)


async def test_a_conversation_of_one_session_is_read_without_a_wait(
    client: MnesticClient, worker: None
) -> None:
    del worker
    message = Resource(
        session_id="a",
        source_id="t1",
        channel="conversation",
        speaker="Mara",
        content="I moved to Ghent.",
        at=NOON,
    )
    await client.memory("ada").messages.append([message])

    job_id = await client.start_job(
        demo_plan(), agent_id="ada", session_id="demo", inputs={"session": "a", "last": True}
    )
    result = await client.wait_for_result(job_id)

    turn = Turn(id="t1", speaker="Mara", text=message.content, at=NOON)
    count = await count_writes(
        client.endpoints.database_url.get_secret_value(),
        tenant_id=client.settings.tenant_id,
        agent_id="ada",
        job_id=job_id,
        sessions=[ConversationSession(id="a", at=NOON, turns=(turn,))],
    )
    assert result.waits == count.waits == count.resumed == 0
    assert count.snapshots == ()
    assert (count.present, count.duplicated) == (count.expected, 0)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (REPORT, "Nothing lost, nothing duplicated."),
        (REPORT.model_copy(update={"writes_present": 6}), "A count is wrong."),
        (REPORT.model_copy(update={"writes_duplicated": 1}), "A count is wrong."),
        (REPORT.model_copy(update={"sessions": 2}), "A count is wrong."),
    ],
)
def test_the_report_says_whether_a_count_is_wrong(
    report: DemoReport, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_report(report)

    printed = capsys.readouterr().out
    assert said in printed
    assert "http://127.0.0.1/j" in printed
    assert report.sound == (report is REPORT)
