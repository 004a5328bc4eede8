"""LoCoMo's questions: those of each sample, with the turns that answer them."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.locomo import parse_document, read_locomo
from mnestic.starter.importers.text_files import EXPECTED, check_file
from mnestic.starter.importers.turns import Conversation, Refuse

CATEGORIES = (1, 2, 3, 4)  # the fifth has no answer in the conversation
_TURN = re.compile(r"D\d+:\d+")  # some of the evidence is several ids in one text, or a part of one


class Question(BaseModel):
    """A question, and the source ids of the turns with the answer."""

    model_config = ConfigDict(frozen=True)

    text: str
    category: int
    evidence: frozenset[str]


class Sample(BaseModel):
    """A conversation and its usable questions.

    `left_out` counts those of the categories whose evidence names no turn of the conversation.
    """

    model_config = ConfigDict(frozen=True)

    conversation: Conversation
    questions: tuple[Question, ...]
    left_out: int

    @property
    def sessions(self) -> dict[str, str]:
        """The session of each turn, by their source ids."""
        return {
            turn.source_id: session.source_id
            for session in self.conversation.sessions
            for turn in session.turns
        }

    @property
    def ends_at(self) -> datetime:
        """The time of the last turn."""
        return max(turn.at for each in self.conversation.sessions for turn in each.turns)

    def without_speakers(self, text: str) -> str:
        """A text without the names of who speaks; the text itself if it has nothing else."""
        speakers = {
            turn.speaker for session in self.conversation.sessions for turn in session.turns
        }
        names = "|".join(sorted(map(re.escape, speakers), key=len, reverse=True))
        left = re.sub(rf"\b(?:{names})\b(?:['’]s)?", " ", text, flags=re.IGNORECASE)  # noqa: RUF001
        return left if left.strip() else text


def read_samples(path: Path, *, refuse: Refuse | None = None) -> tuple[Sample, ...]:
    """All samples of a file, with their questions.

    Args:
        path: LoCoMo's JSON: one sample, or a list of them.
        refuse: As of `read_locomo`.

    Raises:
        InvalidInputError: The file has no conversation or no question; names the place in it.
    """
    source = f"data {path}"
    check_file(path, source)
    document = parse_document(path, source)
    raw_samples = document if isinstance(document, list) else [document]
    if not all(isinstance(each, dict) for each in raw_samples):
        raise InvalidInputError(what=source, why=f"holds no objects; {EXPECTED}")
    samples = tuple(
        _sample(each, path, source=f"{source}, $[{place}]", name=name, refuse=refuse)
        for place, (each, name) in enumerate(
            zip(raw_samples, _names(raw_samples, source), strict=True)
        )
    )
    if not any(sample.questions for sample in samples):
        why = "has no question that its turns answer; expected qa: {question, evidence, category}"
        raise InvalidInputError(what=source, why=why)
    return samples


def _names(samples: Sequence[Mapping[str, Any]], source: str) -> list[str | None]:
    """The names of the samples; one alone needs none."""
    names = [each.get("sample_id") for each in samples]
    if len(names) > 1 and (None in names or len(set(map(str, names))) < len(names)):
        raise InvalidInputError(what=source, why="has samples without a sample_id of their own")
    return [name if isinstance(name, str) else None for name in names]


def _sample(
    sample: Mapping[str, Any], path: Path, *, source: str, name: str | None, refuse: Refuse | None
) -> Sample:
    conversation = read_locomo(path, source, sample=name, refuse=refuse)
    known = {turn.source_id for session in conversation.sessions for turn in session.turns}
    raw_questions = sample.get("qa", [])
    if not isinstance(raw_questions, list):
        raise InvalidInputError(what=f"{source}.qa", why="is no list of questions")
    questions = [
        _question(each, known, f"{source}.qa[{place}]") for place, each in enumerate(raw_questions)
    ]
    answered = [each for each in questions if each.category in CATEGORIES]
    found = tuple(each for each in answered if each.evidence)
    return Sample(conversation=conversation, questions=found, left_out=len(answered) - len(found))


def _question(raw: Any, known: set[str], place: str) -> Question:
    if not isinstance(raw, Mapping) or not str(raw.get("question") or "").strip():
        raise InvalidInputError(what=place, why="has no question")
    evidence = raw.get("evidence") or []
    if not isinstance(evidence, list):
        raise InvalidInputError(what=place, why="has evidence that is no list of turns")
    named = {turn for each in evidence for turn in _TURN.findall(str(each))}
    category = raw.get("category")
    if not isinstance(category, int):
        raise InvalidInputError(what=place, why="has no category, a number from 1 to 5")
    return Question(text=str(raw["question"]), category=category, evidence=frozenset(named & known))
