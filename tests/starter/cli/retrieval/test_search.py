"""`mnestic memory search` with a reranker, and results out of the archive."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from tests.starter.cli.conftest import Ask

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


@pytest.mark.usefixtures("known")
async def test_without_a_server_the_local_one_reads_and_the_other_is_named(ask: Ask) -> None:
    asked = ("memory", "search", "tide table", *ADA)
    local = (await ask(*asked, "--rerank", "local", "--explain")).out
    remote = (await ask(*asked, "--rerank", "remote")).out

    assert "rerank" in local
    assert "Without reranking: " in remote
    assert "set MNESTIC_RERANK_URL" in remote


@pytest.mark.usefixtures("known")
async def test_a_server_without_a_model_is_refused_by_the_names_of_its_settings(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNESTIC_RERANK_URL", "http://127.0.0.1:1")

    done = await ask("memory", "search", "tide", *ADA)

    assert done.code != 0
    assert "MNESTIC_RERANK_MODEL: names no model" in done.err


async def test_what_was_corrected_by_hand_is_shown_as_a_fact(ask: Ask) -> None:
    await ask("memory", "add", "My name is Kim. I live in Ghent.", "--speaker", "Kim", *ADA)
    await ask("memory", "facts", "add", "Kim", "lives_in", "Oslo", *ADA)
    asked = ("memory", "search", "Where does Kim live?", *ADA, "--kind", "fact")

    shown = (await ask(*asked)).out
    (found,) = (await ask(*asked, "--json")).document["results"]
    refused = await ask("memory", "change", found["entry"]["id"], "--text", "Kim is here.", *ADA)
    listed = (await ask("memory", "list", *ADA, "--json")).document["entries"]
    numbers = (await ask("memory", "stats", *ADA, "--json")).document["entries"]

    assert "(fact)" in shown
    assert (found["entry"]["kind"], found["entry"]["content"]) == ("fact", "Kim lives in Oslo.")
    assert "memory facts add" in refused.err
    assert [one["kind"] for one in listed] == ["message"]
    assert (numbers["total"], numbers["by_kind"]) == (1, {"message": 1, "fact": 1})


async def test_a_result_out_of_the_archive_is_marked(
    ask: Ask, memory: Memory, settings: Settings
) -> None:
    added = await ask("memory", "add", "Nora is allergic to latex.", *ADA, "--json")
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        mark = ArchiveMark(archived_at=datetime.now(UTC), reason="unimportant", run="test")
        await transaction.archive.add([added.document["id"]], mark)
    asked = ("memory", "search", "What is Nora allergic to?", *ADA)

    (found,) = (await ask(*asked, "--json")).document["results"]
    shown = (await ask(*asked)).out
    await ask("memory", "settings", "set", "archived", "never", *ADA)

    assert found["archived"] is True
    assert "(archived) Nora is allergic to latex." in shown
    assert "No results." in (await ask(*asked)).out
