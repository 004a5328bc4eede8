"""LoCoMo's questions, with evidence as it is found in the data: some of it malformed."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.locomo.questions import read_samples
from mnestic.memory.errors import InvalidInputError
from tests.starter.importers.conversation_files import locomo_sample


def write(path: Path, *questions: dict[str, Any], **more: Any) -> Path:
    path.write_text(json.dumps([locomo_sample() | {"qa": list(questions)} | more]), "utf-8")
    return path


def question(*evidence: Any, category: Any = 4, text: str = "Which boat?") -> dict[str, Any]:
    return {"question": text, "answer": "red", "evidence": list(evidence), "category": category}


def test_questions_come_with_the_turns_that_answer_them(tmp_path: Path) -> None:
    path = write(tmp_path / "data.json", question("D1:2"), question("D1:1", "D2:1", category=1))

    (sample,) = read_samples(path)

    assert [(each.category, each.evidence) for each in sample.questions] == [
        (4, {"D1:2"}),
        (1, {"D1:1", "D2:1"}),
    ]
    assert sample.questions[0].text == "Which boat?"
    assert sample.sessions["D2:1"] == "s-1/session_2"


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (["D1:1; D1:2"], {"D1:1", "D1:2"}),
        (["D1:1 D2:1", "D"], {"D1:1", "D2:1"}),
        (["D:1:2", "D1:3"], {"D1:3"}),
        (["D1:1", "D9:9"], {"D1:1"}),
        (["D1:1", "D1:1"], {"D1:1"}),
    ],
)
def test_malformed_evidence_is_read_as_far_as_it_names_turns(
    tmp_path: Path, evidence: list[str], found: set[str]
) -> None:
    (sample,) = read_samples(write(tmp_path / "data.json", question(*evidence)))

    assert sample.questions[0].evidence == found
    assert sample.left_out == 0


def test_what_cannot_be_answered_is_left_out_and_counted(tmp_path: Path) -> None:
    searched = [question("D1:1"), question(), question("D9:9"), question("D1:2", category=5)]

    (sample,) = read_samples(write(tmp_path / "data.json", *searched))

    assert len(sample.questions) == 1
    assert sample.left_out == 2  # the adversarial one is of no category that is asked


def test_names_of_speakers_are_taken_out_of_a_question(tmp_path: Path) -> None:
    (sample,) = read_samples(write(tmp_path / "data.json", question("D1:1")))

    assert sample.without_speakers("What is Ana's boat to ben and Anabel?").split() == (
        ["What", "is", "boat", "to", "and", "Anabel?"]
    )
    assert sample.without_speakers("Ana") == "Ana"


def test_many_samples_need_names_and_one_does_not(tmp_path: Path) -> None:
    samples = [locomo_sample() | {"qa": [question("D1:1")]} for _ in range(2)]
    same, bare = tmp_path / "same.json", tmp_path / "bare.json"
    same.write_text(json.dumps(samples), "utf-8")
    del samples[0]["sample_id"]
    bare.write_text(json.dumps(samples[0]), "utf-8")

    assert len(read_samples(bare)) == 1
    with pytest.raises(InvalidInputError, match="without a sample_id of their own"):
        read_samples(same)


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "has no question"),
        ([question()], "has no question"),
        ([question("D1:1", text=" ")], r"qa\[0\].*has no question"),
        ([question("D1:1"), {"question": "Which?", "category": 1, "evidence": "D1:1"}], r"qa\[1\]"),
        ([question("D1:1", category="four")], "has no category"),
        ([["Which?"]], r"qa\[0\]"),
    ],
)
def test_questions_that_are_none_are_refused_with_their_place(
    tmp_path: Path, questions: list[Any], told: str
) -> None:
    with pytest.raises(InvalidInputError, match=told):
        read_samples(write(tmp_path / "data.json", *questions))
