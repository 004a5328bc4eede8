from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from mnestic.memory.working import Message, ToolCall, WorkingMemory

HELLO = Message(id="m1", role="user", content="hello", at=datetime(2026, 1, 1, tzinfo=UTC))


def test_each_step_changes_its_part_alone() -> None:
    empty = WorkingMemory(version=5)
    call = ToolCall(id="t1", activity="search")

    changed = (
        empty.with_messages([HELLO])
        .with_variables({"a": 1})
        .with_tool_call(call)
        .with_task("answer")
        .with_checkpoint("n1")
    )

    assert changed == WorkingMemory(
        version=5,
        messages=(HELLO,),
        variables={"a": 1},
        tool_calls=(call,),
        current_task="answer",
        last_checkpoint="n1",
    )
    assert empty == WorkingMemory(version=5)


def test_messages_are_appended_in_order() -> None:
    second = HELLO.model_copy(update={"id": "m2"})

    changed = WorkingMemory().with_messages([HELLO]).with_messages([second]).with_messages([])

    assert changed.messages == (HELLO, second)


def test_a_variable_is_set_changed_and_removed() -> None:
    before = WorkingMemory(variables={"keep": 0, "change": 1, "remove": 2})

    after = before.with_variables({"change": False, "remove": None, "never": None, "new": ""})

    assert after.variables == {"keep": 0, "change": False, "new": ""}


def test_notes_are_lines_of_the_scratchpad() -> None:
    changed = WorkingMemory().with_note("one").with_note("two")

    assert changed.scratchpad == "one\ntwo"


def test_a_task_can_be_taken_away() -> None:
    changed = WorkingMemory(current_task="answer").with_task(None)

    assert changed.current_task is None


def test_a_message_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Message(id="m", role="user", content="x", at=datetime(2026, 1, 1))  # noqa: DTZ001 - refused
