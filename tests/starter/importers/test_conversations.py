import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.importers.turns import Conversation
from tests.starter.case_files import read_cases
from tests.starter.importers.conversation_files import line, locomo_sample, write

TEXT = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
)
SAID = TEXT.filter(lambda text: not is_blank(text))
MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 (hypothesis adds the zone)
    max_value=datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(turns=st.lists(st.tuples(SAID, SAID, MOMENTS), min_size=1, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_is_written_as_lines_is_read_back(
    tmp_path: Path, turns: list[tuple[str, str, datetime]]
) -> None:
    lines = [
        {"role": role, "content": content, "timestamp": at.isoformat(), "session": "one"}
        for role, content, at in turns
    ]
    path = write(tmp_path / "chat.jsonl", *lines)

    [session] = read_conversation(path).sessions

    read = [(turn.speaker, turn.text, turn.at) for turn in session.turns]
    assert read == sorted(dict.fromkeys(turns), key=lambda turn: turn[2])


def test_a_missing_file_a_directory_and_an_impossible_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such file"):
        read_conversation(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInputError, match="folder"):
        read_conversation(tmp_path)
    with pytest.raises(InvalidInputError):
        read_conversation(tmp_path / ("n" * 5000))
    with pytest.raises(InvalidInputError):
        read_conversation(Path("a\0b"))


@given(content=st.binary(max_size=80) | TEXT.map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_at_all_gives_another_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError):
        read_conversation(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_a_value_of_any_type_anywhere_is_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    sample = locomo_sample()
    where = data.draw(
        st.sampled_from([sample, sample["conversation"], sample["conversation"]["session_1"][0]])
    )
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(JSON)
    chat = line("hello", "2025-01-18")
    chat[data.draw(st.sampled_from(["role", "content", "timestamp", "session"]))] = data.draw(JSON)

    for path in (write(tmp_path / "a.json", sample), write(tmp_path / "b.jsonl", chat)):
        try:
            outcome: object = read_conversation(path)
        except InvalidInputError as error:
            outcome = error
        assert isinstance(outcome, Conversation | InvalidInputError)


def test_lines_that_cannot_be_kept_are_told_and_the_others_read(tmp_path: Path) -> None:
    good = json.dumps(line("I live in Ghent.", "2026-01-05T12:00:00Z")).encode()
    bad = {
        b'{"role": "a"': "column",
        b'{"role": "a", "content": "\xff", "timestamp": "2026-01-05"}': "is not UTF-8",
        b'{"role": "a", "content": "a\\u0000", "timestamp": "2026-01-05"}': "NUL",
        b'{"role": "a", "content": " ", "timestamp": "2026-01-05"}': "content: is empty",
        b'{"role": "a", "content": "b", "timestamp": "9999-01-05"}': "of the year 9999",
        b'{"role": "a", "content": "b", "timestamp": "0000-01-05"}': "not ISO 8601",
        b'{"role": "a", "content": "b"}': "timestamp: is missing",
        json.dumps(line("x" * 1_048_577, "2026-01-05")).encode(): "has 1048577 bytes",
    }
    path = tmp_path / "chat.jsonl"
    last = json.dumps(line("I own a cat.", "2026-01-05T12:00:00Z")).encode()
    path.write_bytes(b"\n".join([good, *bad, last]))
    refused: list[InvalidInputError] = []

    conversation = read_conversation(path, refuse=refused.append)

    turns = [turn for session in conversation.sessions for turn in session.turns]
    assert [turn.id for turn in turns] == ["L1", f"L{len(bad) + 2}"]
    assert len(refused) == len(bad)
    for number, (error, told) in enumerate(zip(refused, bad.values(), strict=True), start=2):
        assert f"{path}, line {number}" in error.what
        assert told in error.why


def test_a_line_with_a_tool_is_its_result_and_came_with_the_message_before_it(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "chat.jsonl",
        {"tool": "calendar", "content": "nobody asked", "timestamp": "2025-01-18T09:00:00"},
        line("Am I free on Monday?", "2025-01-18T09:30:00"),
        {"tool": "calendar", "content": "free", "timestamp": "2025-01-18T09:30:00"},
        line("busy at noon", "2025-01-18T09:30:00", role="tool", tool="calendar"),
    )

    [session] = read_conversation(path).sessions

    first, asked, *results = session.turns
    assert (first.kind, first.attached_to) == ("tool_result", None)
    assert (asked.kind, asked.speaker) == ("message", "Ana")
    assert {(turn.kind, turn.speaker) for turn in results} == {("tool_result", "calendar")}
    assert {turn.attached_to for turn in results} == {asked.source_id}
    assert len({turn.source_id for turn in session.turns}) == 4


GOOD = json.dumps(line("hello", "2025-01-18T09:30:00"))


@pytest.mark.parametrize(("content", "why"), read_cases(__file__, "bad_files"))
def test_a_bad_file_gives_one_error_that_names_it(
    tmp_path: Path, content: str | dict[str, str], why: str
) -> None:
    path = tmp_path / "bad.jsonl"
    if isinstance(content, str):
        path.write_text(content.replace("{GOOD}", GOOD).replace("{CUT}", GOOD[:30]), "utf-8")
    else:
        path.write_bytes(bytes.fromhex(content["hex"]))

    with pytest.raises(InvalidInputError, match=why) as refused:
        read_conversation(path)

    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_lines_are_grouped_by_their_sessions_and_parted_where_more_than_six_hours_pass(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "chat.jsonl",
        line("late", "2025-03-01T08:00:00Z", session="session_1"),
        line("early", "2025-01-01T07:00:00Z", session=7),
        line("late too", "2025-03-09T08:00:00Z", session="session_1"),
        line("one", "2025-01-01T08:00:00"),
        line("two", "2025-01-01T16:00:00+02:00"),
        line("three", "2025-01-01 20:00:01"),
    )

    sessions = read_conversation(path).sessions

    assert {one.id: [turn.id for turn in one.turns] for one in sessions} == {
        "7": ["L2"],
        "session_2": ["L4", "L5"],
        "session_3": ["L6"],
        "session_1": ["L1", "L3"],
    }
    assert [one.at for one in sessions] == sorted(one.at for one in sessions)
    assert sessions[2].at == datetime(2025, 1, 1, 20, 0, 1, tzinfo=UTC)


def test_lines_are_known_by_what_is_in_them_and_one_that_is_there_twice_is_one_message(
    tmp_path: Path,
) -> None:
    one, later = line("one", "2025-01-18T09:00:00"), line("one", "2025-01-18T09:00:01")
    ben = line("one", "2025-01-18T09:00:00", role="Ben")
    path = write(tmp_path / "a.jsonl", one, ben, later, one)

    [session] = read_conversation(path).sessions
    marked = f"\ufeff\r\n\r\n{json.dumps(ben)}\r\n\r\n{json.dumps(one)}"
    path.write_bytes(marked.encode())
    [moved] = read_conversation(path).sessions

    assert [(turn.id, turn.speaker) for turn in session.turns] == [
        ("L1", "Ana"),
        ("L2", "Ben"),
        ("L3", "Ana"),
    ]
    assert {turn.id: turn.source_id for turn in moved.turns} == {
        "L3": session.turns[1].source_id,
        "L5": session.turns[0].source_id,
    }
