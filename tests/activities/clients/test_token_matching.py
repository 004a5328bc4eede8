"""The local reranker: which of a text's words answer to which of the question's."""

import pytest

from mnestic.activities.clients.token_matching import TokenMatchReranker

QUESTION = "When is the cello concert?"


async def test_a_text_with_all_words_is_as_relevant_as_can_be() -> None:
    told = await TokenMatchReranker().rerank(QUESTION, [f"Somebody asked: {QUESTION}"])

    assert told.relevances == (1.0,)
    assert told.usage.input_tokens == 0


async def test_the_more_words_have_one_beside_them_the_more_relevant_a_text_is() -> None:
    both, one, none = (
        await TokenMatchReranker().rerank(
            QUESTION,
            ["The cello concerts begin in May.", "The cello is in tune.", "Paid in cash."],
        )
    ).relevances

    assert both > one > none


@pytest.mark.parametrize("text", ["", " \n", "\0"])
async def test_a_text_that_says_nothing_is_not_relevant(text: str) -> None:
    told = await TokenMatchReranker().rerank(QUESTION, [text, QUESTION])

    assert told.relevances[0] < 0.2 < told.relevances[1]


async def test_a_question_that_says_nothing_makes_nothing_relevant() -> None:
    assert (await TokenMatchReranker().rerank("", ["a", "b"])).relevances == (0.0, 0.0)
    assert (await TokenMatchReranker().rerank("a", [])).relevances == ()


async def test_a_relevance_depends_on_question_and_text_alone() -> None:
    alone = (await TokenMatchReranker().rerank(QUESTION, ["The recital is on Friday."])).relevances
    among = (
        await TokenMatchReranker().rerank(QUESTION, [QUESTION, "The recital is on Friday.", "x"])
    ).relevances

    assert among[1] == alone[0]
