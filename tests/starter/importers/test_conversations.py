import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.conversations import Conversation
from mnestic.starter.importers.conversations import bundled_conversation, read_conversation
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


def test_lines_are_parted_where_more_than_six_hours_pass(tmp_path: Path) -> None:
    path = write(
        tmp_path / "chat.jsonl",
        line("one", "2025-01-01T08:00:00Z"),
        line("two", "2025-01-01T14:00:00Z"),
        line("three", "2025-01-01T20:00:01Z"),
    )

    conversation = read_conversation(path)

    texts = [[turn.text for turn in session.turns] for session in conversation.sessions]
    assert texts == [["one", "two"], ["three"]]
    assert [session.id for session in conversation.sessions] == ["session_1", "session_2"]


def test_named_sessions_are_kept_together_and_sorted_by_time(tmp_path: Path) -> None:
    path = write(
        tmp_path / "chat.jsonl",
        line("late", "2025-03-01T08:00:00Z", session="b"),
        line("early", "2025-01-01T08:00:00Z", session=7),
        line("late too", "2025-03-09T08:00:00Z", session="b"),
    )

    conversation = read_conversation(path)

    assert [session.id for session in conversation.sessions] == ["7", "b"]
    assert [turn.id for turn in conversation.sessions[1].turns] == ["L1", "L3"]


def test_lines_without_a_session_never_join_a_named_one(tmp_path: Path) -> None:
    path = write(
        tmp_path / "chat.jsonl",
        line("named", "2025-01-01T08:00:00Z", session="session_1"),
        line("unnamed", "2025-01-01T08:00:01Z"),
    )

    conversation = read_conversation(path)

    assert [session.id for session in conversation.sessions] == ["session_1", "session_2"]


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ("2025-01-18T09:30:00", datetime(2025, 1, 18, 9, 30, tzinfo=UTC)),
        ("2025-01-18T09:30:00+02:00", datetime(2025, 1, 18, 7, 30, tzinfo=UTC)),
        ("2025-01-18 09:30", datetime(2025, 1, 18, 9, 30, tzinfo=UTC)),
    ],
)
def test_times_are_utc_unless_they_say_otherwise(
    tmp_path: Path, timestamp: str, expected: datetime
) -> None:
    path = write(tmp_path / "chat.jsonl", line("hello", timestamp))

    conversation = read_conversation(path)

    assert conversation.sessions[0].at == expected


def test_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    said = json.dumps(line("hello", "2025-01-18T09:30:00"))
    last = json.dumps(line("bye", "2025-01-18T09:30:00"))
    path.write_bytes(f"\ufeff\r\n\r\n{said}\r\n\r\n{last}".encode())

    conversation = read_conversation(path)

    assert [turn.id for turn in conversation.sessions[0].turns] == ["L3", "L5"]


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


GOOD = json.dumps(line("hello", "2025-01-18T09:30:00"))
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty; expected"),
    "blank": (b" \n\n", "is empty; expected"),
    "not UTF-8": (GOOD.encode("utf-16"), "byte 1 is not UTF-8"),
    "not UTF-8 later on": (
        f"{GOOD}\n".encode() + b'{"role": "\xff"}',
        r"line 2: byte 11 is not UTF-8",
    ),
    "cut last line": (
        f"{GOOD}\n{GOOD[:30]}".encode(),
        r"line 2: Invalid JSON: EOF .* column 30; expected",
    ),
    "cut only line": (GOOD[:30].encode(), r"no whole JSON \(EOF .*\); expected JSON lines"),
    "cut document": (json.dumps([locomo_sample()])[:200].encode(), "no whole JSON"),
    "deep nesting": (b"[" * 100_000, "recursion limit"),
    "prose": (b"Dear diary", "no whole JSON"),
    "a number": (b"5", "holds no objects"),
    "an empty list": (b"[]", "holds no objects"),
    "a list of numbers": (b"[1, 2]", "holds no objects"),
    "another object": (
        b'{"messages": []}',
        "looks like an export of a chat, which is not read; expected",
    ),
    "an object of LoCoMo without sessions": (
        b'{"sample_id": "s-1"}',
        r"\$: has no session_1; expected",
    ),
    "a session out of count": (
        b'{"session_01": [], "session_' + b"9" * 5000 + b'": []}',
        "no session_1",
    ),
    "a sample_id out of range": (b'{"sample_id": ' + b"9" * 5000 + b"}", "number out of range"),
    "a session out of range": (
        b'{"role": "a", "content": "b", "timestamp": "2025-01-18", "session": '
        + b"9" * 5000
        + b"}",
        "number out of range",
    ),
    "another conversation": (b'[{"conversation": 5}]', r"\$\[0\]\.conversation: is no object"),
    "an array in a line": (f"{GOOD}\n[]\n".encode(), "line 2"),
    "no role": (b'{"content": "a", "timestamp": "2025-01-18"}', "line 1: role: is missing"),
    "no content": (b'{"role": "a", "timestamp": "2025-01-18"}', "line 1: content: is missing"),
    "no timestamp": (b'{"role": "a", "content": "b"}', "line 1: timestamp: is missing"),
    "empty content": (json.dumps(line(" ", "2025-01-18")).encode(), "line 1: content: is empty"),
    "long role": (
        json.dumps(line("a", "2025-01-18", role="M" * 257)).encode(),
        "line 1: role: has 257 characters, the limit is 256",
    ),
    "NUL": (json.dumps(line("a\0b", "2025-01-18")).encode(), "line 1: content: holds a NUL"),
    "lone surrogate": (json.dumps(line("a\ud800", "2025-01-18")).encode(), "line 1|no whole JSON"),
    "bad timestamp": (
        json.dumps(line("a", "yesterday")).encode(),
        "line 1: timestamp: 'yesterday' is not",
    ),
    "epoch": (
        b'{"role": "a", "content": "b", "timestamp": 1000000000000}',
        "is no number of seconds since 1970 that can be meant; are they milliseconds?",
    ),
    "time out of range": (json.dumps(line("a", "0001-01-01T00:00:00+14:00")).encode(), "timestamp"),
    "odd session": (json.dumps(line("a", "2025-01-18", session=[1])).encode(), "line 1: session"),
}


@pytest.mark.parametrize(("content", "why"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_gives_one_error_that_names_it(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError, match=why) as refused:
        read_conversation(path)

    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_a_directory_and_an_impossible_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such file"):
        read_conversation(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInputError, match="directory"):
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
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
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


def test_the_bundled_conversation_spans_a_years_end() -> None:
    conversation = bundled_conversation()

    assert conversation.title == "Mara and Jonas"
    assert len(conversation.sessions) == 13
    assert all(8 <= len(session.turns) <= 14 for session in conversation.sessions)
    assert conversation.sessions[0].at.year == 2024
    assert conversation.sessions[-1].at - conversation.sessions[0].at > timedelta(days=210)
    turns = [turn for session in conversation.sessions for turn in session.turns]
    assert len({turn.id for turn in turns}) == len(turns)
    assert all(earlier.at < later.at for earlier, later in pairwise(turns))


def test_a_name_that_is_too_long_for_a_key_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    line = {"role": "x" * 257, "content": "hi", "timestamp": "2025-01-18T09:30:00Z"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    with pytest.raises(InvalidInputError, match=r"line 1.*256"):
        read_conversation(path)


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


def test_a_file_of_which_no_line_can_be_kept_is_refused_as_a_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", line(" ", "2026-01-05"))

    with pytest.raises(InvalidInputError, match="has no message that can be stored"):
        read_conversation(path, refuse=lambda _: None)


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


def test_lines_are_known_by_what_is_in_them_wherever_they_stand(tmp_path: Path) -> None:
    one, two = line("one", "2025-01-18T09:00:00"), line("two", "2025-01-18T09:01:00")

    [session] = read_conversation(write(tmp_path / "a.jsonl", one)).sessions
    [grown] = read_conversation(write(tmp_path / "b.jsonl", two, one)).sessions

    [known] = [turn.source_id for turn in session.turns]
    assert [turn.source_id == known for turn in grown.turns] == [True, False]


def test_a_line_that_is_there_twice_is_one_message(tmp_path: Path) -> None:
    one, later = line("one", "2025-01-18T09:00:00"), line("one", "2025-01-18T09:00:01")
    ben = line("one", "2025-01-18T09:00:00", role="Ben")

    [session] = read_conversation(write(tmp_path / "a.jsonl", one, ben, later, one)).sessions

    assert [(turn.id, turn.speaker) for turn in session.turns] == [
        ("L1", "Ana"),
        ("L2", "Ben"),
        ("L3", "Ana"),
    ]


def test_a_line_that_is_no_message_comes_first_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b'\xff\n{"role": "Ana"\n' + GOOD.encode())
    refused: list[InvalidInputError] = []

    [session] = read_conversation(path, refuse=refused.append).sessions

    assert [turn.id for turn in session.turns] == ["L3"]
    assert [error.what.rpartition(", ")[2] for error in refused] == ["line 1", "line 2"]


@pytest.mark.parametrize("content", [bytes(range(256)) * 64, b"\x89PNG\r\n\x1a\n\0\0\xff"])
def test_a_binary_file_is_refused_by_its_first_byte_that_is_no_text(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError, match="is not UTF-8; expected"):
        read_conversation(path, refuse=lambda _: None)
