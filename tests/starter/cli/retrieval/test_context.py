"""`mnestic memory context`."""

import pytest

from tests.starter.cli.conftest import Ask

QUESTION = ("memory", "context", "Where does Mara live?", "--agent", "ada")


@pytest.fixture
async def known(ask: Ask) -> None:
    await ask("memory", "facts", "add", "Mara", "lives_in", "Turin", "--agent", "ada")
    for text in ("Mara lives in Turin, near the river.", "Tom lives in Bergen."):
        await ask("memory", "add", text, "--agent", "ada", "--subject", text.split()[0])


@pytest.mark.usefixtures("known")
async def test_a_context_is_shown_with_its_tokens_and_its_ledger(ask: Ask) -> None:
    told = (await ask(*QUESTION, "--json")).document
    shown = await ask(*QUESTION)

    assert told["max_tokens"] == 2000
    assert [part["kind"] for part in told["kept"]] == ["fact", "memory"]
    assert told["text"] in shown.out
    assert f"{told['tokens']} of 2000 tokens, 2 parts." in shown.out


@pytest.mark.usefixtures("known")
async def test_a_budget_of_nothing_gives_the_ledger_alone(ask: Ask) -> None:
    told = (await ask(*QUESTION, "--max-tokens", "0", "--json")).document
    shown = await ask(*QUESTION, "--max-tokens", "1")

    assert (told["text"], told["tokens"], told["kept"]) == ("", 0, [])
    assert {one["tier"] for one in told["dropped"]} == {"facts", "search"}
    assert "The context is empty." in shown.out
    assert "over budget" in shown.out
