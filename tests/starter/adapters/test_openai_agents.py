"""Agents of the OpenAI Agents SDK with our sessions; the model is a script, all else is real."""

import json
from typing import Any

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    Session,
    function_tool,
    set_tracing_disabled,
)

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.adapters.openai_agents import MnesticSession, memory_tools
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.adapters.scripted_model import Output, Script, call, reply

set_tracing_disabled(True)


async def contents(memory: MemoryClient) -> set[str]:
    entries, _ = await memory.entries.list(EntryQuery())
    return {entry.content for entry in entries}


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    return client.memory("ada")


async def test_a_conversation_goes_on_in_another_process(
    ada: MemoryClient, client: MnesticClient
) -> None:
    @function_tool
    def find_price(item: str) -> str:
        """Finds a price."""
        return f"{item}: 12 EUR"

    first = Script(call("find_price", item="tea"), reply("Tea is 12 EUR."))
    agent = Agent("clerk", model=first, tools=[find_price])
    session = MnesticSession("s1", ada, user="Mara")
    assert isinstance(session, Session)
    await Runner.run(agent, "What does tea cost? I am Mara.", session=session)

    second = Script(reply("You asked for tea."))
    other = MnesticSession("s1", client.memory("ada"))
    result = await Runner.run(agent.clone(model=second), "What did I ask?", session=other)

    assert result.final_output == "You asked for tea."
    assert second.inputs[0] == [
        *first.inputs[1],
        *(await session.get_items())[3:4],
        {"role": "user", "content": "What did I ask?"},
    ]
    assert [item.get("type", item.get("role")) for item in await other.get_items()] == [
        *("user", "function_call", "function_call_output", "message", "user", "message")
    ]
    assert await contents(ada) == {"What does tea cost? I am Mara.", "What did I ask?"}


async def test_a_run_is_given_the_latest_items_that_its_settings_allow(ada: MemoryClient) -> None:
    session = MnesticSession("s1", ada)
    items: list[Any] = [{"role": "user", "content": f"{number}"} for number in range(30)]
    await session.add_items(items[:29])
    await session.add_items(items[29:])

    session.session_settings.limit = 3

    assert await session.get_items() == items[-3:]
    assert await session.get_items(2) == items[-2:]
    assert await session.pop_item() == items[-1]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_the_model_gets_what_memory_has_for_the_message_and_the_session_does_not(
    ada: MemoryClient,
) -> None:
    await ada.add("Mara is allergic to peanuts.")
    script = Script(reply("Hello."), reply("Peanuts."))
    agent, session = Agent("cook", model=script), MnesticSession("s1", ada)
    config = RunConfig(call_model_input_filter=session.memory_context(max_tokens=200))

    await Runner.run(agent, "Hello!", session=session, run_config=config)
    await Runner.run(agent, "What is Mara allergic to?", session=session, run_config=config)

    block, asked = script.inputs[1][-2:]
    assert "Mara is allergic to peanuts." in block["content"]
    assert asked["content"] == "What is Mara allergic to?"
    assert not any("peanuts" in json.dumps(item) for item in (await session.get_items())[:3])


async def test_an_agent_remembers_recalls_and_forgets_by_its_tools(ada: MemoryClient) -> None:
    def forget_first(items: list[Any]) -> Output:
        (found,) = json.loads(items[-1]["output"])
        return call("forget", id=found["id"])

    script = Script(
        call("remember", text="Mara lives in Porto."),
        reply("Done."),
        call("recall", question="Where does Mara live?"),
        forget_first,
        reply("Forgotten."),
    )
    agent = Agent("clerk", model=script, tools=memory_tools(ada))

    await Runner.run(agent, "Remember it.")
    assert await contents(ada) == {"Mara lives in Porto."}
    await Runner.run(agent, "Forget it.")

    assert await contents(ada) == set()


async def test_a_run_that_waits_for_an_approval_goes_on_in_another_process(
    ada: MemoryClient, client: MnesticClient
) -> None:
    paid: list[int] = []

    @function_tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    agent = Agent("clerk", model=Script(call("pay", amount=5)), tools=[pay])
    waiting = await Runner.run(agent, "Pay 5.", session=MnesticSession("s1", ada))
    assert waiting.interruptions
    carried = waiting.to_state().to_json()

    later = agent.clone(model=Script(reply("Paid.")))
    state = await RunState.from_json(later, carried)
    for one in state.get_interruptions():
        state.approve(one)
    session = MnesticSession("s1", client.memory("ada"))
    result = await Runner.run(later, state, session=session)

    assert (result.final_output, paid) == ("Paid.", [5])
    assert [item.get("type", item.get("role")) for item in await session.get_items()] == [
        *("user", "function_call", "function_call_output", "message")
    ]
