from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.jobs.thoughts import ThinkActivities, ThinkInput
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import ChatMessage, ChatReply, TokenUsage
from mnestic.memory.models.usage import Budget, ModelPrices
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.learning_models import Begin

PRICES = ModelPrices.model_validate({"test": {"input": 1000, "output": 2000}})


def words(text: str) -> int:
    return len(text.split())


class CountingModel:
    """A chat model that counts its replies; it fails first, as often as it is told.

    `meanwhile` is run once, before it answers.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[ChatMessage, ...]] = []
        self.caps: list[int] = []
        self.failures = 0
        self.refusal: ModelRefusedError | None = None
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        self.asked.append(tuple(messages))
        self.caps.append(max_tokens)
        number = len(self.asked)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        if self.refusal is not None:
            raise self.refusal
        if self.failures:
            self.failures -= 1
            raise ModelUnavailableError(model="test", why="busy", retry_after_s=3)
        usage = TokenUsage(input_tokens=len(messages), output_tokens=max_tokens)
        return ChatReply(text=f"reply {number}", model="test", usage=usage)


Think = Callable[[ThinkInput], Awaitable[object]]
Working = Callable[[], Awaitable[WorkingMemory]]


@pytest.fixture
def model() -> CountingModel:
    return CountingModel()


@pytest.fixture
def think(memory: Memory, model: CountingModel) -> Think:
    activities = ThinkActivities(
        memory, model, count_tokens=words, retriever=ScopeRetriever(), prices=PRICES
    )

    async def call(asked: ThinkInput) -> object:
        return await ActivityEnvironment().run(activities.think, asked)

    return call


@pytest.fixture(autouse=True)
async def mara(begin: Begin) -> None:
    """A session in which Mara has said three texts."""
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    messages = [
        Message(id=f"m{n}", role="user", content=f"text {n}", at=at, speaker="Mara")
        for n in range(3)
    ]
    async with begin() as transaction:
        state = WorkingMemory().with_variables({"name": "Mara"}).with_messages(messages)
        await transaction.working.save("s1", state)


@pytest.fixture
def asked(scope: Scope, operation: Callable[..., Operation]) -> ThinkInput:
    return ThinkInput(
        scope=scope,
        operation=operation(1, "think"),
        prompt="Greet ${memory.variables.name}.",
        templates=True,
        system="You are kind.",
        history=2,
        max_tokens=64,
        save_as="greeting",
    )


async def test_a_thought_is_stored_once_as_a_message_and_a_variable_with_its_cost(
    think: Think,
    asked: ThinkInput,
    model: CountingModel,
    working: Working,
    calls: Callable[[], list[Any]],
) -> None:
    first = await think(asked)

    state = await working()
    assert (state.messages[-1].role, state.messages[-1].content) == ("assistant", "reply 1")
    assert state.variables["greeting"] == "reply 1"
    assert model.asked == [
        (
            ChatMessage(role="system", content="You are kind."),
            ChatMessage(role="user", content="Mara: text 1"),
            ChatMessage(role="user", content="Mara: text 2"),
            ChatMessage(role="user", content="Greet Mara."),
        )
    ]
    assert await think(asked) == first
    assert await working() == state
    cost = Decimal("0.132")  # 4 tokens in, 64 out
    assert calls() == [("j1/0/1/think", "think", "test", 4, 64, cost)]
    assert len(model.asked) == 1


async def test_a_model_that_does_not_answer_is_asked_again_when_it_said(
    think: Think, asked: ThinkInput, model: CountingModel, counts: Callable[[], dict[str, int]]
) -> None:
    model.failures = 1
    before = counts()

    with pytest.raises(ApplicationError) as caught:
        await think(asked)

    assert not caught.value.non_retryable
    assert caught.value.next_retry_delay is not None
    assert caught.value.next_retry_delay.total_seconds() == 3
    assert counts() == before
    await think(asked)
    assert counts() == before | {"operation": 1, "llm_usage": 1}


async def test_a_reply_that_came_second_is_dropped_but_was_paid_for(
    think: Think,
    asked: ThinkInput,
    model: CountingModel,
    working: Working,
    calls: Callable[[], list[Any]],
) -> None:
    model.meanwhile = lambda: think(asked)

    result = await think(asked)

    assert (await working()).variables["greeting"] == "reply 2"
    assert [row[0] for row in calls()] == ["j1/0/1/think"] * 2
    assert await think(asked) == result
    assert len(model.asked) == 2


@pytest.mark.parametrize("usage", [TokenUsage(input_tokens=9, output_tokens=1), None])
async def test_a_refused_answer_leaves_what_it_took_where_that_is_known(
    think: Think,
    asked: ThinkInput,
    model: CountingModel,
    calls: Callable[[], list[Any]],
    usage: TokenUsage | None,
) -> None:
    model.refusal = ModelRefusedError(model="test", why="cut off", usage=usage)

    with pytest.raises(ApplicationError, match="cut off"):
        await think(asked)

    told = [("j1/0/1/think", "think", "test", 9, 1, Decimal("0.011"))]
    assert calls() == (told if usage else [])


@pytest.mark.parametrize(
    # 3 for the reply, 4 and the words of each message: system 7, prompt 6, each of the history 7
    ("max_input_tokens", "kept"),
    [(30, 2), (29, 1), (16, 0)],
)
async def test_the_oldest_messages_are_left_out_until_the_input_fits(
    think: Think, asked: ThinkInput, model: CountingModel, max_input_tokens: int, kept: int
) -> None:
    await think(asked.model_copy(update={"max_input_tokens": max_input_tokens}))

    said = [message.content for message in model.asked[0]]
    history = ["Mara: text 1", "Mara: text 2"][2 - kept :]
    assert said == ["You are kind.", *history, "Greet Mara."]


async def test_a_prompt_that_is_too_large_alone_is_refused_for_good(
    think: Think, asked: ThinkInput, model: CountingModel
) -> None:
    told = "the prompt is 6 tokens and the system text 7, together over max_input_tokens, 15"

    with pytest.raises(ApplicationError, match=told) as caught:
        await think(asked.model_copy(update={"max_input_tokens": 15}))

    assert (caught.value.type, caught.value.non_retryable) == ("InvalidInputError", True)
    assert model.asked == []


async def test_the_answer_may_have_what_is_left_of_the_jobs_own_budget(
    think: Think, asked: ThinkInput, operation: Callable[..., Operation], model: CountingModel
) -> None:
    async def again(step: int, tokens: int, *, job_id: str = "j1") -> None:
        operations = {"operation": operation(step, "think", job_id=job_id)}
        await think(asked.model_copy(update=operations | {"budget": Budget(tokens=tokens)}))

    await think(asked)  # takes 4 and 64 tokens
    with pytest.raises(ApplicationError, match=r"used up: 68 \+ 29 of the next input") as caught:
        await again(2, 97)
    await again(3, 98)
    await again(4, 29, job_id="j2")  # whose history is shorter

    assert (caught.value.type, caught.value.non_retryable) == ("BudgetExceededError", True)
    assert model.caps == [64, 1, 1]
