import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mnestic.memory.canonical import canonical_json
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory, count_messages

HELLO = Message(id="m1", role="user", content="hello", at=datetime(2026, 1, 1, tzinfo=UTC))
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
states = st.builds(
    WorkingMemory,
    version=st.integers(0, 9),
    messages=st.lists(
        st.builds(
            Message,
            id=text,
            role=st.sampled_from(["system", "user", "assistant", "tool"]),
            content=text,
            at=st.datetimes(timezones=st.timezones() | st.just(UTC)),
            speaker=st.none() | text,
            channel=st.none() | text,
        ),
        max_size=3,
    ).map(tuple),
    variables=st.dictionaries(text, json_values, max_size=3),
    tool_calls=st.lists(
        st.builds(ToolCall, id=text, activity=text, arguments=json_values, result=json_values),
        max_size=2,
    ).map(tuple),
    scratchpad=text,
    current_task=st.none() | text,
)


@given(states)
def test_a_document_is_the_canonical_form_of_its_state(state: WorkingMemory) -> None:
    content = state.document().body

    values = state.model_dump(mode="json", exclude={"version", "last_checkpoint"})
    assert content == canonical_json(values)
    assert canonical_json(json.loads(content)) == content
    assert WorkingMemory.model_validate_json(content).document().body == content


@given(states)
def test_messages_are_counted_in_a_document(state: WorkingMemory) -> None:
    counted = count_messages(state.document().body.decode())

    assert counted == len(state.messages)


@pytest.mark.parametrize("body", ["[]", "{}", "1", "{", '{"messages":null}', '{"messages":[1]}'])
def test_of_what_is_no_state_nothing_is_counted(body: str) -> None:
    assert count_messages(body) is None


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"scratchpad": "a\0"}, r"memory\.scratchpad: .*NUL"),
        ({"current_task": "\ud800"}, r"memory\.current_task: .*surrogate"),
        ({"variables": {"a": {"b": ["x", "a\0"]}}}, r"memory\.variables\.a\.b\[1\]: .*NUL"),
        ({"variables": {"a": "\udc00"}}, r"memory\.variables\.a: .*surrogate"),
        ({"variables": {"a\0": 1}}, r"memory\.variables: .*NUL"),
        ({"variables": {"a": float("nan")}}, r"memory\.variables\.a: is nan"),
        ({"variables": {"a": [float("inf")]}}, r"memory\.variables\.a\[0\]: is inf"),
        (
            {"tool_calls": (ToolCall(id="t", activity="a", arguments=[float("nan")]),)},
            r"memory\.tool_calls\[0\]\.arguments\[0\]: is nan",
        ),
        ({"variables": {"a": 10**2000}}, r"memory\.variables\.a: .*4096 bits"),
        ({"variables": {"a": [object()]}}, r"memory\.variables\.a\[0\]: is a object"),
        (
            {"tool_calls": (ToolCall(id="t", activity="a", result={"x": "\0"}),)},
            r"memory\.tool_calls\[0\]\.result\.x: .*NUL",
        ),
        (
            {"messages": (HELLO, HELLO.model_copy(update={"content": "a\0"}))},
            r"memory\.messages\[1\]\.content: .*NUL",
        ),
        (
            {"messages": (HELLO.model_copy(update={"speaker": "\ud800"}),)},
            r"memory\.messages\[0\]\.speaker: .*surrogate",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_place(
    changed: dict[str, Any], problem: str
) -> None:
    state = WorkingMemory().model_copy(update=changed)

    with pytest.raises(InvalidInputError, match=problem):
        state.document()


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
