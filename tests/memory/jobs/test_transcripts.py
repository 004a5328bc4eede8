"""Texts of a job are found by the keys of the operations that wrote them."""

from datetime import UTC, datetime

from mnestic.memory.jobs.timeline import JobTimeline, TimelineEntry
from mnestic.memory.jobs.transcripts import JobTexts, Prompt, place_of, transcript_of
from mnestic.memory.jobs.working_memory import Message, ToolCall

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_an_operation_of_a_step_names_its_place() -> None:
    assert place_of("j1/0/7/remember") == ("j1", "0", 7)
    assert place_of("j1/w1/open_wait") is None
    assert place_of("client/4") is None


def test_texts_stand_at_their_steps_and_nowhere_else() -> None:
    entries = tuple(
        TimelineEntry(at=NOON, what="step", detail={"kind": kind, "operations": [key]})
        for kind, key in (
            ("think", "j1/0/1/think"),
            ("tool", "j1/0/3/remember"),
            ("emit", "j1/0/4/remember"),
        )
    )
    said = Message(id="m", role="assistant", content="Yes.", at=NOON)
    call = ToolCall(id="j1/0/2/tool", activity="look")
    texts = JobTexts(
        prompts={"j1/0/1/think": Prompt(prompt="Well?")},
        messages={"j1/0/1/think": said},
        tools={"j1/0/2": call},
    )

    found = transcript_of(
        JobTimeline(job_id="j1", entries=entries, complete=False),
        texts,
        session_id="s1",
        waits=(),
        episodes=(),
    ).entries

    assert (found[0].prompt, found[0].message, found[0].tool) == (
        Prompt(prompt="Well?"),
        said,
        None,
    )
    assert (found[1].prompt, found[1].message, found[1].tool) == (None, None, call)
    assert (found[2].prompt, found[2].message, found[2].tool) == (None, None, None)
