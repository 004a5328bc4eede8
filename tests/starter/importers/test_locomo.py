"""Conversations in LoCoMo's shape."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.conversations import read_conversation
from tests.starter.case_files import read_cases
from tests.starter.importers.conversation_files import locomo_sample, write


def test_locomo_sessions_come_in_order_with_ids_and_captions(tmp_path: Path) -> None:
    path = write(tmp_path / "locomo.json", locomo_sample())

    conversation = read_conversation(path)

    assert conversation.title == "Ana and Ben"
    assert [session.id for session in conversation.sessions] == ["s-1/session_1", "s-1/session_2"]
    first = conversation.sessions[0]
    assert first.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [turn.id for turn in first.turns] == ["D1:1", "D1:2", "D1:3"]
    assert [turn.text for turn in first.turns] == [
        "Hello Ben.",
        "Look! [shares a photo: a red boat]",
        "[shares a photo: a blue boat]",
    ]
    assert [turn.at - first.at for turn in first.turns] == [timedelta(seconds=n) for n in range(3)]
    assert conversation.sessions[1].at == datetime(2024, 1, 1, 0, 5, tzinfo=UTC)


def test_the_first_of_many_samples_is_read_unless_one_is_named(tmp_path: Path) -> None:
    other = locomo_sample("s-2")
    other["conversation"]["session_1"][0]["text"] = "From the second."
    path = tmp_path / "samples.json"
    path.write_text(json.dumps([locomo_sample(), other], indent=2), encoding="utf-8")

    first = read_conversation(path)
    second = read_conversation(path, sample="s-2")

    assert first.sessions[0].turns[0].text == "Hello Ben."
    assert (first.others, second.others) == (("s-2",), ("s-1",))
    assert second.sessions[0].turns[0].text == "From the second."
    with pytest.raises(InvalidInputError, match=r"no sample s-3, but s-1, s-2"):
        read_conversation(path, sample="s-3")


@pytest.mark.parametrize(("key", "value", "why"), read_cases(__file__, "locomo"))
def test_a_bad_locomo_file_names_the_path_within(
    tmp_path: Path, key: str, value: object, why: str
) -> None:
    sample = locomo_sample()
    sample["conversation"][key] = value
    path = write(tmp_path / "locomo.json", sample)

    with pytest.raises(InvalidInputError, match=why):
        read_conversation(path)


def test_turns_of_locomo_that_cannot_be_kept_are_told_and_the_others_read(tmp_path: Path) -> None:
    sample = locomo_sample()
    good = sample["conversation"]["session_1"]
    bad = [
        {"speaker": "Ana", "dia_id": "D1:4", "text": "a\0b"},
        {"speaker": "Ana", "dia_id": "D1:5", "text": "x" * 1_048_577},
        {"speaker": "Ana", "dia_id": "D1:6"},
        {"speaker": "Ana", "dia_id": "D1:7", "text": 5},
        "nothing of the sort",
    ]
    sample["conversation"]["session_1"] = [good[0], *bad, *good[1:]]
    sample["conversation"]["session_2_date_time"] = "1:56 pm on 8 May, 1066"
    path = write(tmp_path / "locomo.json", sample)
    refused: list[InvalidInputError] = []

    [session] = read_conversation(path, refuse=refused.append).sessions

    assert [turn.id for turn in session.turns] == ["D1:1", "D1:2", "D1:3"]
    told = [str(error).partition("conversation.")[2] for error in refused]
    for one, start, why in zip(
        told,
        [*(f"session_1: {n}" for n in range(1, 6)), "session_2_date_time"],
        ("NUL", "1048577 bytes", "text: is missing", "text: ", "valid", "of the year 1066"),
        strict=True,
    ):
        assert one.startswith(start)
        assert why in one
    assert [f"'D1:{n}'" in one for n, one in enumerate(told, start=4)] == [True] * 4 + [False] * 2
