"""Messages of which a part is so no longer: the rest of them still answers, and so does what ended it."""

from datetime import timedelta

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import NOON, Learn, said

TWO_SENTENCES = ("I live in Porto. The alarm code is 7731.", "I moved to Turin.")
COMMA = ("I live in Porto, my bike lock opens with 4410.", "I moved to Turin.")
AGE = ("I'm 51 and my parking space is C12.", "I'm 52 now.")
BOSS = ("My boss is Ines, and the projector stands in the cellar.", "My boss is Pia now.")
ENDED = ("I work at Agfa. The spare key hangs behind the boiler.", "I no longer work at Agfa.")
ONE_CLAUSE = ("I live in Porto near the harbour.", "I moved to Turin.")
LAST = ("The spare key hangs behind the boiler and I'm 51.", "I'm 52 now.")
WEATHER = "We talked about the weather of the week and the price of bread. " * 12
LONG = (f"{WEATHER}I live in Porto. The alarm code is 7731. {WEATHER}", "I moved to Turin.")
JOB = (
    "I work at Bosch and I live in Ulm with my two cats, they are called Tim and Tom and sleep all day",
    "I left Bosch, I'm at Siemens now",
)


async def tell(learn: Learn, *texts: str) -> None:
    for number, text in enumerate(texts):
        await learn(said(number, text, speaker="Ruth", at=NOON + timedelta(days=number)))


async def found(ada: MemoryClient, question: str, *, min_score: float | None = None) -> list[str]:
    retrieval = await ada.retrieve(question, min_score=min_score)
    return [one.entry.content for one in retrieval.results]


@pytest.mark.parametrize(
    ("messages", "question"),
    [
        pytest.param(TWO_SENTENCES, "Where does Ruth live?", id="the replaced value"),
        pytest.param(TWO_SENTENCES, "Who lives in Porto?", id="words of the replaced value"),
        pytest.param(AGE, "How old is Ruth?", id="the clause about an age"),
        pytest.param(BOSS, "Who is Ruth's boss?", id="the clause before the comma"),
        pytest.param(ENDED, "Where does Ruth work?", id="what has ended"),
        pytest.param(ONE_CLAUSE, "Which harbour is it near?", id="the same clause"),
    ],
)
async def test_the_part_of_a_message_that_is_so_no_longer_does_not_answer(
    ada: MemoryClient, learn: Learn, messages: tuple[str, ...], question: str
) -> None:
    await tell(learn, *messages)

    assert messages[0] not in await found(ada, question)


@pytest.mark.parametrize(
    ("messages", "question", "quoted"),
    [
        (TWO_SENTENCES, "What is the alarm code?", "… The alarm code is 7731."),
        (COMMA, "What does the bike lock open with?", "… my bike lock opens with 4410."),
        (AGE, "What is my parking space?", "… and my parking space is C12."),
        (BOSS, "Where does the projector stand?", "… and the projector stands in the cellar."),
        (ENDED, "Where does the spare key hang?", "… The spare key hangs behind the boiler."),
        (LAST, "Where does the spare key hang?", "The spare key hangs behind the boiler and …"),
        (LONG, "What is the alarm code?", "bread … The alarm code is 7731. We"),
    ],
)
async def test_the_part_of_a_message_that_still_holds_answers_and_is_quoted_alone(
    ada: MemoryClient, learn: Learn, messages: tuple[str, ...], question: str, quoted: str
) -> None:
    await tell(learn, *messages)

    before_message = await ada.auto_retrieve(question, "other")
    context = await ada.context_for_query(question)

    assert messages[0] in await found(ada, question)
    for text in (before_message.text, context.text):
        assert quoted in text
        assert messages[0] not in text


async def test_a_question_about_the_past_quotes_the_whole_message(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(learn, *TWO_SENTENCES)

    context = await ada.context_for_query("Where did Ruth live before?")

    assert TWO_SENTENCES[0] in context.text


async def test_the_message_about_what_is_so_instead_answers_and_why_says_so(
    ada: MemoryClient, learn: Learn
) -> None:
    await tell(learn, *JOB)
    entries, _ = await ada.entries.list(EntryQuery())

    for question, answer in (
        ("Where does Ruth work?", JOB[1]),
        ("Who is Ruth's employer?", JOB[1]),
        ("Where does Ruth live?", JOB[0]),
    ):
        for min_score in (None, 0.0):
            contents = await found(ada, question, min_score=min_score)
            assert contents[0] == answer, question
            assert JOB[0] == answer or JOB[0] not in contents
    traces = [await ada.why("Where does Ruth work?", expect=one.id) for one in entries]
    assert [one.stage for one in traces] == ["returned", "validity"]
    assert traces[1].why == "what the query asks of it is so no longer"


async def test_a_correction_by_hand_hides_only_what_it_corrects(
    ada: MemoryClient, learn: Learn
) -> None:
    message = TWO_SENTENCES[0]
    await tell(learn, message)
    await ada.facts.add("Ruth", "lives_in", "Genoa")

    assert message not in await found(ada, "Where does Ruth live?")
    assert await found(ada, "What is the alarm code?") == [message]


BEER, OFF = "I drink root beer.", "I've gone off root beer."


@pytest.mark.parametrize(
    ("question", "messages", "answers"),
    [
        pytest.param(
            "Who is Ruth engaged to?",
            ("I'm engaged to Otis.", "Otis and I split up.", "The rent went up."),
            ["Otis and I split up."],
            id="one value",
        ),
        pytest.param("What does Ruth drink?", (BEER, OFF), [OFF], id="the only one of many values"),
        pytest.param(
            "What does Ruth drink?",
            (BEER, "I drink barley tea.", OFF),
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
    ada: MemoryClient, learn: Learn, question: str, messages: tuple[str, ...], answers: list[str]
) -> None:
    await tell(learn, *messages)

    contents = await found(ada, question, min_score=0.5)

    assert contents[: len(answers) or None] == answers
