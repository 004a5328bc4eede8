import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mnestic.memory.canonical import canonical_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segments import SegmentEntry, Segments
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory, count_messages
from tests.memory.json_values import TEXT, VALUES
from tests.memory.tables import refusal

HELLO = Message(id="m1", role="user", content="hello", at=datetime(2026, 1, 1, tzinfo=UTC))
states = st.builds(
    WorkingMemory,
    version=st.integers(0, 9),
    messages=st.lists(
        st.builds(
            Message,
            id=TEXT,
            role=st.sampled_from(["system", "user", "assistant", "tool"]),
            content=TEXT,
            at=st.datetimes(timezones=st.timezones() | st.just(UTC)),
            speaker=st.none() | TEXT,
            channel=st.none() | TEXT,
        ),
        max_size=3,
    ).map(tuple),
    variables=st.dictionaries(TEXT, VALUES, max_size=3),
    tool_calls=st.lists(
        st.builds(ToolCall, id=TEXT, activity=TEXT, arguments=VALUES, result=VALUES),
        max_size=2,
    ).map(tuple),
    scratchpad=TEXT,
    current_task=st.none() | TEXT,
)


@given(states)
def test_a_document_is_the_canonical_form_of_its_state_and_counts_its_messages(
    state: WorkingMemory,
) -> None:
    content = state.document().body

    values = state.model_dump(mode="json", exclude={"version", "last_checkpoint"})
    assert content == canonical_json(values)
    assert canonical_json(json.loads(content)) == content
    assert WorkingMemory.model_validate_json(content).document().body == content
    assert count_messages(content.decode()) == len(state.messages)


def test_a_state_without_segments_is_stored_as_before_there_were_any() -> None:
    state = WorkingMemory(version=2, messages=(HELLO,), variables={"a": 1}, current_task="ask")

    assert state.document().body == (
        b'{"current_task":"ask","messages":[{"at":"2026-01-01T00:00:00Z","channel":null,'
        b'"content":"hello","id":"m1","role":"user","speaker":null}],"scratchpad":"",'
        b'"tool_calls":[],"variables":{"a":1}}'
    )
    assert "segments" not in state.model_dump_json()


def test_segments_are_part_of_the_document() -> None:
    entry = SegmentEntry(id="m1", segment_id="conversation", content="hello", tokens=1, at=HELLO.at)
    state = WorkingMemory(messages=(HELLO,)).with_segments(Segments(sequence=1, entries=(entry,)))

    content = state.document().body

    assert content == canonical_json(json.loads(content))
    assert WorkingMemory.model_validate_json(content) == state
    assert count_messages(content.decode()) == 1


def test_of_what_is_no_state_nothing_is_counted() -> None:
    bodies = ["[]", "{}", "1", "{", '{"messages":null}', '{"messages":[1]}']

    assert {count_messages(body) for body in bodies} == {None}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"scratchpad": "a\0"}, "memory.scratchpad: holds a NUL"),
        ({"current_task": "\ud800"}, "memory.current_task: holds half of a surrogate"),
        ({"variables": {"a": {"b": ["x", "a\0"]}}}, "memory.variables.a.b[1]: holds a NUL"),
        ({"variables": {"a": [float("inf")]}}, "memory.variables.a[0]: is inf"),
        (
            {"tool_calls": (ToolCall(id="t", activity="a", arguments=[float("nan")]),)},
            "memory.tool_calls[0].arguments[0]: is nan",
        ),
        (
            {"tool_calls": (ToolCall(id="t", activity="a", result={"x": "\0"}),)},
            "memory.tool_calls[0].result.x: holds a NUL",
        ),
        (
            {"messages": (HELLO, HELLO.model_copy(update={"content": "a\0"}))},
            "memory.messages[1].content: holds a NUL",
        ),
        (
            {"messages": (HELLO.model_copy(update={"speaker": "\ud800"}),)},
            "memory.messages[0].speaker: holds half of a surrogate",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_place(
    changed: dict[str, Any], problem: str
) -> None:
    assert problem in refusal(WorkingMemory().model_copy(update=changed).document)


def test_variables_may_be_nested_as_deep_as_anything_that_is_stored() -> None:
    value: Any = 1
    for _ in range(62):  # beside the document and its variables
        value = [value]
    WorkingMemory(variables={"a": value}).document()

    with pytest.raises(InvalidInputError, match=r"memory\.variables\.a.*deeper than 64 levels"):
        WorkingMemory(variables={"a": [value]}).document()


def test_messages_about_the_escape_of_nul_are_stored() -> None:
    state = WorkingMemory(messages=(HELLO.model_copy(update={"content": "\\u0000 is NUL"}),))

    content = state.document().body

    assert WorkingMemory.model_validate_json(content) == state


def test_each_step_changes_its_part_alone() -> None:
    before = WorkingMemory(
        version=5, variables={"keep": 0, "change": 1, "remove": 2}, current_task="ask"
    )
    call = ToolCall(id="t1", activity="search")
    second = HELLO.model_copy(update={"id": "m2"})

    changed = (
        before.with_messages([HELLO])
        .with_messages([second])
        .with_variables({"change": False, "remove": None, "never": None, "new": ""})
        .with_tool_call(call)
        .with_note("one")
        .with_note("two")
        .with_task("answer")
        .with_checkpoint("n1")
    )

    assert changed == WorkingMemory(
        version=5,
        messages=(HELLO, second),
        variables={"keep": 0, "change": False, "new": ""},
        tool_calls=(call,),
        scratchpad="one\ntwo",
        current_task="answer",
        last_checkpoint="n1",
    )
    assert before.variables == {"keep": 0, "change": 1, "remove": 2}
    assert changed.with_task(None).current_task is None


def test_a_message_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Message(id="m", role="user", content="x", at=datetime(2026, 1, 1))  # noqa: DTZ001 - refused
