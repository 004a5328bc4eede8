"""Questions in several languages: their content words count, whatever words ask."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import NOON, said

FAR_APART = 0.03  # of two scores
LANGUAGES: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("question_languages.yaml").read_text(encoding="utf-8")
)


async def scores(
    agent: MemoryClient, world: dict[str, Any], *, language: str
) -> dict[str, Sequence[Any]]:
    """For each question, the numbers and the scores of the messages that it finds."""
    await agent.settings.change(language=language)
    await agent.ingest(
        [said(n, text, speaker=world["speaker"]) for n, text in enumerate(world["messages"])]
    )
    asked_at = NOON + timedelta(days=9)
    return {
        question: [
            (int(str(one.entry.source_id)[1:]), one.score)
            for one in (await agent.retrieve(question, min_score=0, asked_at=asked_at)).results
        ]
        for question in (*world["answered"], *world["unanswered"])
    }


@pytest.mark.parametrize("code", LANGUAGES)
async def test_a_question_is_answered_by_its_content_words(
    memory: Memory, settings: Settings, code: str
) -> None:
    world = LANGUAGES[code]

    own, english = [
        await scores(
            MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=language),
            world,
            language=language,
        )
        for language in (world["language"], "english")
    ]

    for question, answer in world["answered"].items():
        number, score = own[question][0]
        assert (number, score >= 0.5) == (answer, True), (question, own[question])
        assert score >= max((one for _, one in english[question]), default=0) - FAR_APART, question
    for question in world["unanswered"]:
        assert [one for found in (own, english) for one in found[question] if one[1] >= 0.5] == []
