from collections.abc import Awaitable, Callable, Sequence

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.thoughts import ThinkActivities, ThinkInput
from mnestic.memory.errors import ModelUnavailableError
from mnestic.memory.language import ChatMessage, ChatReply, TokenUsage
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Scope
from mnestic.memory.working import Message, WorkingMemory


class CountingModel:
    """A chat model that counts its replies; it fails first, as often as it is told."""

    def __init__(self) -> None:
        self.asked: list[tuple[ChatMessage, ...]] = []
        self.failures = 0

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        self.asked.append(tuple(messages))
        if self.failures:
            self.failures -= 1
            raise ModelUnavailableError(model="test", why="busy", retry_after_s=3)
        usage = TokenUsage(input_tokens=len(messages), output_tokens=max_tokens)
        return ChatReply(text=f"reply {len(self.asked)}", model="test", usage=usage)


@pytest.fixture
def model() -> CountingModel:
    return CountingModel()


@pytest.fixture
def think(memory: Memory, model: CountingModel) -> Callable[[ThinkInput], Awaitable[object]]:
    activities = ThinkActivities(memory, model)

    async def call(asked: ThinkInput) -> object:
        return await ActivityEnvironment().run(activities.think, asked)

    return call


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


async def remember_mara(begin: Callable[[], object], at: object) -> None:
    async with begin() as transaction:  # type: ignore[attr-defined]
        state = WorkingMemory().with_variables({"name": "Mara"})
        messages = [
            Message.model_validate(
                {"id": f"m{n}", "role": "user", "content": f"text {n}", "at": at, "speaker": "Mara"}
            )
            for n in range(3)
        ]
        await transaction.working.save("s1", state.with_messages(messages))


@pytest.fixture
async def mara(begin: Callable[[], object]) -> None:
    await remember_mara(begin, "2026-03-01T12:00:00Z")


@pytest.mark.usefixtures("mara")
async def test_a_thought_is_kept_as_a_message_and_a_variable(
    think: Callable[[ThinkInput], Awaitable[object]],
    asked: ThinkInput,
    model: CountingModel,
    working: Callable[[], Awaitable[WorkingMemory]],
) -> None:
    await think(asked)

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


@pytest.mark.usefixtures("mara")
async def test_a_thought_that_was_kept_asks_no_model_again(
    think: Callable[[ThinkInput], Awaitable[object]],
    asked: ThinkInput,
    model: CountingModel,
    working: Callable[[], Awaitable[WorkingMemory]],
) -> None:
    first = await think(asked)
    before = await working()

    again = await think(asked)

    assert again == first
    assert await working() == before
    assert len(model.asked) == 1


@pytest.mark.usefixtures("mara")
async def test_a_model_that_does_not_answer_is_asked_again_when_it_said(
    think: Callable[[ThinkInput], Awaitable[object]],
    asked: ThinkInput,
    model: CountingModel,
    counts: Callable[[], dict[str, int]],
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
    assert counts() == before | {"operation": 1}


async def test_a_prompt_that_names_nothing_is_refused_before_a_model_is_asked(
    think: Callable[[ThinkInput], Awaitable[object]], asked: ThinkInput, model: CountingModel
) -> None:
    with pytest.raises(ApplicationError, match="'name'") as caught:
        await think(asked)

    assert caught.value.non_retryable
    assert model.asked == []


async def test_a_prompt_reaches_into_results_that_the_job_names(
    think: Callable[[ThinkInput], Awaitable[object]], model: CountingModel, asked: ThinkInput
) -> None:
    changes = {
        "prompt": "Read ${memory.results.look.rows.1}.",
        "results": {"look": {"rows": [1, 2]}},
    }

    await think(asked.model_copy(update=changes))

    assert model.asked[0][-1].content == "Read 2."
