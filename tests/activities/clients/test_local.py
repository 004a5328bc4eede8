# ruff: noqa: RUF001 (marks of other scripts are meant)

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.models.messages import ChatMessage

TURNS = (
    ChatMessage(role="user", content="Mara: Hi there! I moved from Utrecht to Ghent on Monday."),
    ChatMessage(role="assistant", content="Jonas: Wow, nice! How is the flat in Ghent?"),
    ChatMessage(
        role="user", content="Mara: I work as a data analyst at Brightwater, the water company."
    ),
    ChatMessage(role="assistant", content="Jonas: Cool."),
    ChatMessage(role="user", content="Mara: My sister Elin expects a baby in January 2025."),
    ChatMessage(role="user", content="Mara: My sister Elin expects a baby in January 2025!"),
)
MESSAGES = st.lists(
    st.builds(
        ChatMessage,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200),
    ),
    max_size=8,
)


async def test_a_summary_keeps_what_was_stated_and_who_said_it() -> None:
    summary = await LocalSummariser().summarise(TURNS, max_chars=180)

    assert summary.text == (
        "Mara: I moved from Utrecht to Ghent on Monday. "
        "I work as a data analyst at Brightwater, the water company. "
        "My sister Elin expects a baby in January 2025."
    )
    assert summary.model == "local-extractive"
    assert summary.usage.output_tokens == count_tokens(summary.text)
    long = await LocalSummariser().summarise(TURNS, max_chars=5000)
    assert not [small for small in ("Cool", "Hi there") if small in long.text]
    assert long.text.count("Elin expects a baby") == 1


@pytest.mark.parametrize(
    ("role", "content", "max_chars", "text"),
    [
        (
            "user",
            "我上个月从北京搬到了上海。你好吗？我在水务公司做数据分析师。",
            22,
            "user: 我上个月从北京搬到了上海。",
        ),
        ("user", "Mara: " + "lighthouse " * 500, 40, "Mara: lighthouse lighthouse…"),
        ("user", " \n", 100, ""),
    ],
    ids=["a script without spaces", "a huge sentence", "nothing"],
)
async def test_messages_are_summarised(role: Any, content: str, max_chars: int, text: str) -> None:
    turns = [ChatMessage(role=role, content=content)]

    assert (await LocalSummariser().summarise(turns, max_chars=max_chars)).text == text
    assert (await LocalSummariser().summarise((), max_chars=max_chars)).text == ""


@given(turns=MESSAGES, max_chars=st.integers(-1, 300))
async def test_a_summary_never_exceeds_its_cap_and_is_always_the_same(
    turns: list[ChatMessage], max_chars: int
) -> None:
    once = await LocalSummariser().summarise(turns, max_chars=max_chars)
    again = await LocalSummariser().summarise(turns, max_chars=max_chars)

    assert len(once.text) <= max(0, max_chars)
    assert once == again


async def test_a_reply_says_that_it_is_local_and_quotes_the_best_match() -> None:
    question = ChatMessage(role="user", content="Where does Mara work as an analyst?")

    reply = await LocalChatModel().reply((*TURNS, question), max_tokens=200)

    notice, best, *_ = reply.text.splitlines()
    assert "local responder" in notice
    assert best == "- Mara: “I work as a data analyst at Brightwater, the water company.”"


async def test_replies_of_the_local_responder_are_not_summarised_or_quoted() -> None:
    for speaker, question in (("", "Where does Mara work?"), ("ada: ", "What flies at noon?")):
        asked = ChatMessage(role="user", content=question)
        reply = await LocalChatModel().reply((*TURNS, asked), max_tokens=200)
        own = ChatMessage(role="assistant", content=speaker + reply.text)

        for alone in (TURNS[:1], ()):
            summary = await LocalSummariser().summarise((*alone, own), max_chars=1000)
            assert summary.text == (await LocalSummariser().summarise(alone, max_chars=1000)).text
        again = await LocalChatModel().reply((own, *TURNS, asked), max_tokens=200)
        assert again.text == reply.text


@given(messages=MESSAGES, max_tokens=st.integers(1, 100))
async def test_a_reply_never_exceeds_its_tokens_and_is_always_the_same(
    messages: list[ChatMessage], max_tokens: int
) -> None:
    once = await LocalChatModel().reply(messages, max_tokens=max_tokens)
    again = await LocalChatModel().reply(messages, max_tokens=max_tokens)

    assert once.usage.output_tokens <= max_tokens
    assert once == again
