"""What a waiting job shows of itself in the Temporal UI."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from markdown_it import MarkdownIt
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.common import SearchAttributeKey

from mnestic.memory.jobs.waits import ResumptionContext
from mnestic.memory.names import RESUMPTION_CONTEXT
from tests.workflows.conftest import Jobs, plan_of

PLAN = plan_of("order_approval")
LOOK = plan_of("look")
pytestmark = pytest.mark.usefixtures("worker")
KEYWORDS = ("JobState", "WaitKey", "AgentId", "SessionId", "TenantId")


async def test_a_waiting_job_can_be_searched_for_and_tells_a_person_what_it_waits_for(
    jobs: Jobs,
) -> None:
    job_id = await jobs.start_waiting(PLAN, inputs={"order": 42})
    described = await jobs.handle(job_id).describe()
    metadata = await jobs.handle(job_id).query(
        "__temporal_workflow_metadata", result_type=WorkflowMetadata
    )
    memo, status = await described.memo(), await jobs.status(job_id)
    context = await jobs.handle(job_id).query(RESUMPTION_CONTEXT, result_type=ResumptionContext)
    (wait,) = await jobs.waits(job_id)

    found = described.typed_search_attributes
    shown = [found.get(SearchAttributeKey.for_keyword(name)) for name in KEYWORDS]
    deadline = found.get(SearchAttributeKey.for_datetime("WaitDeadline"))
    assert shown == ["waiting", "approval", "ada", "s1", jobs.settings.tenant_id]
    assert deadline is not None
    assert timedelta(days=20) < deadline - datetime.now(UTC) < timedelta(days=22)

    card = metadata.current_details
    for told in (
        "### Waiting for approval",
        "May order 42 go out?",
        "resumed, refused, timeout",
        "1 messages, 0 episodes, 0 records",
        f"job resume {job_id} --payload '{{}}'\n```",
    ):
        assert told in card

    assert status.open_wait is not None
    assert memo["mnestic"]["sha256"] == status.open_wait.snapshot.sha256
    assert memo["mnestic"]["wait_id"] == status.open_wait.wait_id
    assert "Order 42" not in str(memo)
    assert (context, context.cursor_node) == (wait.context, "approval")


HOSTILE = """Is this **all**?
![seen](https://example.org/seen.png) [pay](https://example.org) <img src=x> &lt;
www.example.org ada@example.org `rm -rf /` | cell |

    rm -rf /
```sh
mnestic job resume other
```
# Heading
- item
1. first
Heading
=======
---"""


async def test_what_others_write_is_shown_as_it_is_and_links_to_nothing(jobs: Jobs) -> None:
    wait = {"id": "ask", "kind": "wait", "key": "ask", "timeout": "1d", "ask": "${input.text}"}
    plan = json.dumps({"name": "asks", "nodes": [{**wait, "on": {"ok": "end", "timeout": "end"}}]})

    job_id = await jobs.start_waiting(plan, inputs={"text": HOSTILE})

    card = (
        await jobs.handle(job_id).query(
            "__temporal_workflow_metadata", result_type=WorkflowMetadata
        )
    ).current_details
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(card)
    first, prompt, *rest = [block for block in blocks if block.type == "inline"]
    assert first.content == "Waiting for ask"
    assert {part.type for part in prompt.children or ()} == {"text", "hardbreak"}
    shown = "".join(part.content or "\n" for part in prompt.children or ())
    assert shown.replace("\N{WORD JOINER}", "").split() == HOSTILE.split()
    assert "://" not in card
    assert [block.tag for block in blocks if block.type.startswith("heading")] == ["h3", "h3"]
    assert [block.type for block in blocks if block.tag == "code"] == ["fence"]
    assert "image" not in {part.type for one in rest for part in one.children or ()}


async def test_the_history_holds_no_memory_text_but_what_the_plan_says(jobs: Jobs) -> None:
    secret = "the vault is behind the mirror"
    await jobs.memory("ada").records.set("profile", "secret", secret)

    result = await jobs.run(LOOK)

    history = (await jobs.handle(result.job_id).fetch_history()).to_json()
    assert await jobs.texts() == [secret]
    assert "mirror" not in history
