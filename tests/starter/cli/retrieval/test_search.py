"""`mnestic memory search` with a reranker, and results out of the archive."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import ArchiveMark
from tests.starter.cli.conftest import Ask
from tests.transactions import Begin

ADA = ("--agent", "ada")
OFFICE, EUROS = "The tide table hangs in the office.", "A tide table costs four euros."


@pytest.fixture
async def known(ask: Ask) -> None:
    for text in (OFFICE, EUROS):
        await ask("memory", "add", text, *ADA)


def prefer_euros(_: str, body: Any) -> Any:
    told = [
        {"index": n, "relevance_score": 0.9 if "euros" in text else 0.1}
        for n, text in enumerate(body["documents"])
    ]
    return 200, {"results": told}, {}


@pytest.mark.usefixtures("known")
async def test_the_best_are_read_once_more_by_the_server_that_is_set(
    ask: Ask, chat_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_server.answers = prefer_euros
    monkeypatch.setenv("MNESTIC_RERANK_URL", f"{chat_server.base_url}/rerank")
    monkeypatch.setenv("MNESTIC_RERANK_MODEL", "ranker")
    monkeypatch.setenv("MNESTIC_RERANK_API_KEY", "key-1")
    asked = ("memory", "search", "tide table in the office", *ADA, "--rerank", "remote")

    found = (await ask(*asked, "--json")).document["results"]
    line = (await ask(*asked, "--explain")).out

    assert [one["entry"]["content"] for one in found] == [EUROS, OFFICE]
    assert "rerank +" in line
    assert "rerank -" in line
    assert {one["authorization"] for one in chat_server.requests} == {"Bearer key-1"}
    assert {one["path"] for one in chat_server.requests} == {"/v1/rerank"}


async def test_a_result_out_of_the_archive_is_marked(ask: Ask, begin: Begin) -> None:
    added = await ask("memory", "add", "Nora is allergic to latex.", *ADA, "--json")
    async with begin() as transaction:
        mark = ArchiveMark(archived_at=datetime.now(UTC), reason="unimportant", run="test")
        await transaction.archive.add([added.document["id"]], mark)
    asked = ("memory", "search", "What is Nora allergic to?", *ADA)

    (found,) = (await ask(*asked, "--json")).document["results"]
    shown = (await ask(*asked)).out
    await ask("memory", "settings", "set", "archived", "never", *ADA)

    assert found["archived"] is True
    assert "(archived) Nora is allergic to latex." in shown
    assert "No results." in (await ask(*asked)).out
