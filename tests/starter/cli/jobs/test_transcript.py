"""`mnestic job transcript`: what was thought, called, said, and what resumed a job."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN = Path(__file__).with_name("thinking.yaml").read_text("utf-8")


@pytest.mark.usefixtures("worker")
async def test_a_transcript_tells_what_was_thought_called_said_and_answered(
    client: MnesticClient, ask: Ask, tmp_path: Path
) -> None:
    said = Resource(
        session_id="s1", source_id="m1", channel="chat", speaker="Mara", content="Hi.", at=NOON
    )
    await client.memory("ada").messages.append([said])
    path = tmp_path / "thinking.yaml"
    path.write_text(PLAN, encoding="utf-8")
    who = ("--agent", "ada", "--session", "s1", "--input", "name=Mara", "--job-id", "think-1")
    await ask("job", "start", str(path), *who)
    payload = ("--payload", '{"word": "dear"}', "--request-id", "r1")
    await _resumed(ask, *payload)
    await client.wait_for_result("think-1")

    found = (await ask("job", "transcript", "think-1", "--json")).document
    told = await ask("job", "transcript", "think-1")

    entries = {(one["what"], one["detail"].get("node")): one for one in found["entries"]}
    tool, thought = entries["step", "hear"]["tool"], entries["step", "ponder"]
    assert (found["session_id"], found["complete"]) == ("s1", True)
    assert (tool["activity"], tool["arguments"]["conversation"]) == ("mnestic.read_session", "s1")
    assert "ref" not in tool["result"], "the result itself, not where it is kept"
    assert thought["prompt"] == {
        "prompt": "What of Mara?",
        "system": "Be brief.",
    }
    assert thought["message"]["role"] == "assistant"
    assert thought["message"]["content"]
    assert entries["step", "note"]["message"]["content"] == "I met Mara."
    assert entries["step", "note"]["episode"] == "Met Mara."
    said = entries["step", "say"]["message"]
    assert (said["channel"], said["content"]) == ("chat", "Hello dear.")
    waits = {one["what"]: one for one in found["entries"]}
    assert waits["wait_opened"]["ask"] == "May I greet?"
    assert waits["restored"]["payload"] == {"word": "dear"}
    for text in ("prompt: What of Mara?", "chat: Hello dear.", 'payload: {"word": "dear"}'):
        assert f"    {text}\n" in told.out


async def _resumed(ask: Ask, *payload: str) -> None:
    """Resumes the job as soon as it waits."""
    for _ in range(200):
        done = await ask("job", "resume", "think-1", *payload)
        if done.code == 0:
            return
        assert done.code == 2, done.err
    raise AssertionError(done.err)
