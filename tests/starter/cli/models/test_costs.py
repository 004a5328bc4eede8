"""`mnestic costs` and `mnestic memory retrievals`: the books."""

from decimal import Decimal

import pytest

from mnestic.memory.models.usage import ModelCall
from mnestic.memory.retrieval.retrieval_log import (
    LoggedMemory,
    LoggedNote,
    RetrievalLogEntry,
    Skipped,
)
from tests.starter.cli.conftest import Ask
from tests.transactions import Begin


@pytest.fixture
async def books(begin: Begin) -> None:
    """A call of each of two models, and two injections, one of them into the first call."""
    for agent, model, injected in (("ada", "gpt-5-mini", 400), ("eve", "unheard-of", 0)):
        async with begin(agent) as transaction:
            call = ModelCall(
                session_id="s1",
                job_id=None,
                operation_key=None,
                purpose="think",
                model=model,
                input_tokens=1000,
                output_tokens=100,
                cost_usd=Decimal("0.00045") if agent == "ada" else None,
                injected_tokens=injected,
            )
            await transaction.usage.add(call)
            put = RetrievalLogEntry(
                channel="whatsapp",
                preview=f"{agent} asks",
                memories=(LoggedMemory(id="e1", score=0.75),),
                notes=(LoggedNote(path="Profile.md"),),
                skipped=(Skipped(source="notes", name="Gone.md", why="is not in the vault"),),
                tokens=400,
            )
            await transaction.retrieval_log.add(put)


@pytest.mark.usefixtures("books")
async def test_costs_are_told_by_purpose_agent_and_time_and_injections_apart(ask: Ask) -> None:
    told = (await ask("costs", "--json")).document
    shown = await ask("costs")

    (think,) = told["purposes"]
    assert think["purpose"] == "think"
    assert (think["calls"], think["unpriced"], think["input_tokens"]) == (2, 1, 2000)
    assert (think["injected_tokens"], think["cost_usd"]) == (400, "0.00045")
    assert told["injections"] == {
        "retrievals": 2,
        "tokens": 800,
        "metered_tokens": 400,
        "unpriced_tokens": 0,
        "cost_usd": "0.0001",
    }
    assert "unpriced" in shown.out
    assert (
        "Retrieved before messages: 800 tokens by 2 retrievals; 400 of the input above, 0.0001 USD."
        in (shown.out)
    )

    ada = (await ask("costs", "--agent", "ada", "--json")).document
    before = (await ask("costs", "--until", "2020-01-01", "--json")).document
    none = await ask("costs", "--until", "2020-01-01")

    assert ada["total"]["calls"] == 1
    assert (before["purposes"], before["injections"]["retrievals"]) == ([], 0)
    assert before["since"].startswith("2019-12-02")
    assert "No calls of models." in none.out


@pytest.mark.usefixtures("books")
async def test_retrievals_are_listed_with_what_was_put_there(ask: Ask) -> None:
    told = (await ask("memory", "retrievals", "--agent", "ada", "--json")).document
    shown = await ask("memory", "retrievals", "--agent", "ada")
    nothing = await ask("memory", "retrievals", "--agent", "nobody")

    (one,) = told["retrievals"]
    assert told["cursor"] is None
    assert (one["channel"], one["preview"], one["tokens"]) == ("whatsapp", "ada asks", 400)
    assert one["memories"] == [{"id": "e1", "score": 0.75}]
    assert one["notes"] == [{"path": "Profile.md"}]
    assert one["skipped"] == [{"source": "notes", "name": "Gone.md", "why": "is not in the vault"}]
    assert "Gone.md" in shown.out
    assert "No retrievals." in nothing.out
