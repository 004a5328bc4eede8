"""Questions about what has ended: the message that said so answers, if nothing else is so now."""

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

FIRST = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "said", "found"),
    [
        pytest.param(
            "Who is Ruth engaged to?",
            ("I'm engaged to Otis.", "Otis and I split up.", "The rent went up."),
            ["Otis and I split up."],
            id="one value",
        ),
        pytest.param(
            "What does Ruth drink?",
            ("I drink root beer.", "I've gone off root beer."),
            ["I've gone off root beer."],
            id="the only one of many values",
        ),
        pytest.param(
            "What does Ruth drink?",
            ("I drink root beer.", "I drink barley tea.", "I've gone off root beer."),
            ["I drink barley tea."],
            id="another value is left",
        ),
        pytest.param(
            "Does Ruth still work at Agfa?",
            ("I work at Agfa.", "My work shoes are wet.", "I no longer work at Agfa."),
            ["I no longer work at Agfa."],
            id="the same message states another fact that the question asks for",
        ),
        pytest.param(
            "What does Ruth teach?",
            ("I've quit the scouts, it was no fun.",),
            [],
            id="an end of what never was known",
        ),
    ],
)
async def test_the_message_that_ended_a_fact_answers_where_nothing_is_so(
    memory: Memory, settings: Settings, question: str, said: tuple[str, ...], found: list[str]
) -> None:
    ruth = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")
    for number, text in enumerate(said):
        at = FIRST + timedelta(days=number)
        message = Resource(
            session_id="s",
            source_id=f"m{number}",
            channel="chat",
            speaker="Ruth",
            content=text,
            at=at,
        )
        await ruth.ingest([message])
        for step in (steps.extract, steps.learn):
            await ActivityEnvironment().run(step, params)

    retrieval = await ruth.retrieve(question, min_score=0.5)

    assert [one.entry.content for one in retrieval.results][: len(found) or None] == found
