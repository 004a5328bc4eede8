"""Questions in several languages: their content words count, whatever words ask."""

# ruff: noqa: RUF001 (punctuation of other scripts is meant)

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
FAR_APART = 0.03  # of two scores

# For each language: its text search configuration, a speaker, messages, questions with the message that answers each, and
# questions that nothing answers.
LANGUAGES = {
    "fr": (
        *("french", "Lucie"),
        ["J'habite à Metz avec mes deux chats.", "Le train pour Dijon part du quai neuf."],
        {"Où habite Lucie ?": 0, "D'où part le train pour Dijon ?": 1},
        ["Combien pèse la valise ?"],
    ),
    "de": (
        *("german", "Jens"),
        ["Ich arbeite in einer Gärtnerei.", "Der Zug nach Jena fährt auf Gleis neun ab."],
        {"Wo arbeitet Jens?": 0, "Wann fährt denn der Zug nach Jena?": 1},
        ["Wie schwer ist der Koffer?"],
    ),
    "es": (
        *("spanish", "Rosa"),
        ["Trabajo en un vivero.", "El tren a Murcia sale del andén nueve."],
        {"¿Dónde trabaja Rosa?": 0, "¿De dónde sale el tren a Murcia?": 1},
        ["¿Cuánto pesa la maleta?"],
    ),
    "it": (
        *("italian", "Piero"),
        ["Lavoro in un vivaio.", "Il treno per Bari parte dal binario nove."],
        {"Dove lavora Piero?": 0, "Da dove parte il treno per Bari?": 1},
        ["Quanto pesa la valigia?"],
    ),
    "pt": (
        *("portuguese", "Inês"),
        ["Moro em Faro com dois gatos.", "O comboio para Évora parte da linha nove."],
        {"Onde mora a Inês?": 0, "De onde parte o comboio para Évora?": 1},
        ["Quanto pesa a mala?"],
    ),
    "nl": (
        *("dutch", "Joost"),
        ["Ik werk in een kwekerij.", "De trein naar Assen vertrekt van spoor negen."],
        {"Waar werkt Joost?": 0, "Waarvandaan vertrekt de trein naar Assen?": 1},
        ["Hoeveel weegt de koffer?"],
    ),
    "ja": (
        *("simple", "美穂"),
        ["去年から金沢で働いています。", "長野行きの電車は九番線から出ました。"],
        {"美穂はどこで働いていますか？": 0, "長野行きの電車はどこから出ましたか？": 1},
        ["鞄の重さはどのくらいですか？", "お姉さんのお仕事は何ですか？"],
    ),
}


async def scores(
    memory: Memory, settings: Settings, code: str, *, language: str
) -> dict[str, Sequence[tuple[int, float]]]:
    """For each question, the numbers and the scores of the messages that it finds."""
    _, speaker, contents, questions, others = LANGUAGES[code]
    auto = AutoRetriever(
        models=QueryModels(Embedders(TokenVectorEmbedder())), count_tokens=count_tokens
    )
    agent = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id=language, auto=auto)
    await agent.settings.change(language=language)
    await agent.ingest(
        [
            Resource(
                session_id="s",
                source_id=str(number),
                channel="chat",
                speaker=speaker,
                content=content,
                at=NOW - timedelta(days=9, minutes=-number),
            )
            for number, content in enumerate(contents)
        ]
    )
    return {
        question: [
            (int(one.entry.source_id or ""), one.score)
            for one in (await agent.retrieve(question, min_score=0, asked_at=NOW)).results
        ]
        for question in (*questions, *others)
    }


@pytest.mark.parametrize("code", LANGUAGES)
async def test_a_question_is_answered_by_its_content_words(
    memory: Memory, settings: Settings, code: str
) -> None:
    language, _, _, questions, others = LANGUAGES[code]

    own = await scores(memory, settings, code, language=language)
    english = await scores(memory, settings, code, language="english")

    for question, answer in questions.items():
        number, score = own[question][0]
        assert (number, score >= 0.5) == (answer, True), (question, own[question])
        assert score >= max((one for _, one in english[question]), default=0) - FAR_APART, question
    for question in others:
        assert [one for found in (own, english) for one in found[question] if one[1] >= 0.5] == []
