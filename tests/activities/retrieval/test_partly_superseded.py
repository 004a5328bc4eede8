"""Messages of which one part is so no longer: the rest of them still answers."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.knowledge.ingestion import IngestActivities, IngestInput
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings

FIRST = datetime(2026, 3, 2, 12, tzinfo=UTC)
TWO_SENTENCES = ("I live in Porto. The alarm code is 7731.", "I moved to Turin.")
COMMA = ("I live in Porto, my bike lock opens with 4410.", "I moved to Turin.")
AGE = ("I'm 51 and my parking space is C12.", "I'm 52 now.")
BOSS = ("My boss is Ines, and the projector stands in the cellar.", "My boss is Pia now.")
ENDED = ("I work at Agfa. The spare key hangs behind the boiler.", "I no longer work at Agfa.")
ONE_CLAUSE = ("I live in Porto near the harbour.", "I moved to Turin.")


@pytest.mark.parametrize(
    ("messages", "question", "is_found"),
    [
        pytest.param(TWO_SENTENCES, "What is the alarm code?", True, id="another sentence"),
        pytest.param(TWO_SENTENCES, "Where does Ruth live?", False, id="the replaced value"),
        pytest.param(TWO_SENTENCES, "Who lives in Porto?", False, id="words of the replaced value"),
        pytest.param(AGE, "What is my parking space?", True, id="another clause"),
        pytest.param(AGE, "How old is Ruth?", False, id="the clause about an age"),
        pytest.param(COMMA, "What does the bike lock open with?", True, id="after a comma alone"),
        pytest.param(BOSS, "Where does the projector stand?", True, id="a clause after a comma"),
        pytest.param(BOSS, "Who is Ruth's boss?", False, id="the clause before the comma"),
        pytest.param(ENDED, "Where does the spare key hang?", True, id="beside what has ended"),
        pytest.param(ENDED, "Where does Ruth work?", False, id="what has ended"),
        pytest.param(ONE_CLAUSE, "Which harbour is it near?", False, id="the same clause"),
    ],
)
async def test_the_part_of_a_message_that_still_holds_answers(
    memory: Memory,
    settings: Settings,
    messages: tuple[str, ...],
    question: str,
    is_found: bool,
) -> None:
    ruth = await _ingested(memory, settings, messages)

    retrieval = await ruth.retrieve(question)

    assert (messages[0] in [one.entry.content for one in retrieval.results]) == is_found


JOB = (
    "I work at Bosch and I live in Ulm with my two cats, they are called Tim and Tom and sleep all day",
    "I left Bosch, I'm at Siemens now",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        pytest.param("Where does Ruth work?", JOB[1], id="by a word of the message"),
        pytest.param("Who is Ruth's employer?", JOB[1], id="by a word of the predicate alone"),
        pytest.param("Where does Ruth live?", JOB[0], id="by what holds"),
    ],
)
async def test_the_message_about_what_is_so_instead_answers(
    memory: Memory, settings: Settings, question: str, answer: str
) -> None:
    ruth = await _ingested(memory, settings, JOB)

    for min_score in (None, 0.0):
        retrieval = await ruth.retrieve(question, min_score=min_score)
        assert retrieval.results[0].entry.content == answer
        assert JOB[0] == answer or JOB[0] not in [one.entry.content for one in retrieval.results]


async def test_why_says_that_what_is_asked_of_a_message_has_ended(
    memory: Memory, settings: Settings
) -> None:
    ruth = await _ingested(memory, settings, JOB)
    entries, _ = await ruth.entries.list(EntryQuery())
    new, old = entries

    traces = [await ruth.why("Where does Ruth work?", expect=one.id) for one in (old, new)]

    assert [one.stage for one in traces] == ["validity", "returned"]
    assert traces[0].why == "what the query asks of it is so no longer"


async def test_a_correction_by_hand_hides_only_what_it_corrects(
    memory: Memory, settings: Settings
) -> None:
    (message, *_) = TWO_SENTENCES
    ruth = await _ingested(memory, settings, [message])
    await ruth.facts.add("Ruth", "lives_in", "Genoa")

    home = await ruth.retrieve("Where does Ruth live?")
    code = await ruth.retrieve("What is the alarm code?")

    assert message not in [one.entry.content for one in home.results]
    assert [one.entry.content for one in code.results] == [message]


THREE = ("I live in Porto, my wife is Ines and I work at Agfa.", "I moved to Turin.")
LAST = ("The spare key hangs behind the boiler and I'm 51.", "I'm 52 now.")
WEATHER = "We talked about the weather of the week and the price of bread. " * 12
LONG = (f"{WEATHER}I live in Porto. The alarm code is 7731. {WEATHER}", "I moved to Turin.")


@pytest.mark.parametrize(
    ("messages", "question", "quoted"),
    [
        (TWO_SENTENCES, "What is the alarm code?", "… The alarm code is 7731."),
        (COMMA, "What does the bike lock open with?", "… my bike lock opens with 4410."),
        (AGE, "What is my parking space?", "… and my parking space is C12."),
        (BOSS, "Where does the projector stand?", "… and the projector stands in the cellar."),
        (ENDED, "Where does the spare key hang?", "… The spare key hangs behind the boiler."),
        (THREE, "Where does Ruth work?", "… my wife is Ines and I work at Agfa."),
        (LAST, "Where does the spare key hang?", "The spare key hangs behind the boiler and …"),
        (LONG, "What is the alarm code?", "bread … The alarm code is 7731. We"),
    ],
)
async def test_a_prompt_does_not_state_what_is_superseded(
    memory: Memory, settings: Settings, messages: tuple[str, ...], question: str, quoted: str
) -> None:
    ruth = await _ingested(memory, settings, messages)

    before_message = await ruth.auto_retrieve(question, "other")
    context = await ruth.context_for_query(question)

    for text in (before_message.text, context.text):
        assert quoted in text
        assert messages[0] not in text


async def test_a_question_about_the_past_quotes_the_whole_message(
    memory: Memory, settings: Settings
) -> None:
    ruth = await _ingested(memory, settings, TWO_SENTENCES)

    context = await ruth.context_for_query("Where did Ruth live before?")

    assert TWO_SENTENCES[0] in context.text


async def _ingested(memory: Memory, settings: Settings, messages: Sequence[str]) -> MemoryClient:
    ruth = MemoryClient(memory, tenant_id=settings.tenant_id, agent_id="ada")
    steps = IngestActivities(
        memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
    )
    params = IngestInput(tenant_id=settings.tenant_id, agent_id="ada")
    for number, text in enumerate(messages):
        message = Resource(
            session_id="s",
            source_id=f"m{number}",
            channel="chat",
            speaker="Ruth",
            content=text,
            at=FIRST + timedelta(days=number),
        )
        await ruth.ingest([message])
        for step in (steps.extract, steps.learn):
            await ActivityEnvironment().run(step, params)
    return ruth
