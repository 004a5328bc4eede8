"""The sources of a search: which entries each brings, and which it may not lose."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.queries import RetrievalQuery
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.entry_samples import NOON
from tests.stores.plan_samples import parts_of, plans_of, statements_of
from tests.stores.search_samples import parsed_query, read_words

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
MOST = 50  # that the source of facts brings
LATER = MOST + 10


def message(number: int, *, session: str = "later", channel: str = "chat") -> Resource:
    """What Mara said a number of hours after noon."""
    return Resource(
        session_id=session,
        source_id=f"m{number}",
        channel=channel,
        speaker="Mara",
        content=f"I like dish {number}.",
        at=NOON + timedelta(hours=number),
    )


def likes(said: Resource) -> Claim:
    """What a message claims."""
    source = ClaimSource(extractor="test", session_id=said.session_id, source_id=said.source_id)
    return Claim(
        id=f"{said.session_id}/{said.source_id}",
        subject="Mara",
        predicate="likes",
        object=said.content.removeprefix("I like "),
        said_at=said.at,
        source=source,
    )


async def learn(transaction: Transaction, said: Sequence[Resource]) -> list[Entry]:
    """Writes messages with their claims; returns their entries."""
    await receive(transaction, said, owner="test")
    await transaction.facts.claim([likes(one) for one in said])
    entries, _ = await transaction.entries.list_entries(EntryQuery(), limit=1000)
    by_time = {entry.at: entry for entry in entries}
    return [by_time[one.at] for one in said]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "1237"),
        ({"query": {"min_score": 0}}, "012345678"),
        ({"query": {"rerank": "local"}}, "012345678"),
    ],
)
async def test_a_turn_that_borrows_less_than_the_least_share_is_no_candidate(
    begin: Begin, asked: dict[str, Any], found: str
) -> None:
    async with begin() as transaction:
        await receive(transaction, [*map(message, range(9))], owner="test")
        vocabulary = await read_words(transaction, "2", "7")
    strong, weak = vocabulary.query_lexemes
    few = (strong, replace(weak, weight=weak.weight / 5))
    vocabulary = replace(vocabulary, query_lexemes=few)
    query = RetrievalQuery(text="anything", mode="text", **asked.pop("query", {}))

    async with begin(write=False) as transaction:
        brought = await transaction.search.find_candidates(
            parsed_query(query=query, vocabulary=vocabulary, **asked)
        )

    assert {text.content for text in brought.texts} == {
        f"I like dish {number}." for number in found
    }


async def test_no_more_rows_are_read_of_a_rare_lexeme_than_have_it(
    begin: Begin,
    memory: PostgresMemory,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    application_url: str,
) -> None:
    async with begin() as transaction:
        await receive(transaction, [*map(message, range(400))], owner="test")
    ada = MemoryClient(client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada"))
    statements = await statements_of(ada, monkeypatch, "dish 7", mode="text")

    plans = await plans_of(application_url, statements, "ANALYZE,")

    read = [
        (part["Actual Rows"] * part["Actual Loops"], part.get("Rows Removed by Filter", 0))
        for one in plans
        for part in parts_of(one.plan)
        if part.get("Relation Name") == "posting" and part["Actual Loops"]
    ]
    assert read == [(8, 0), (8, 0)]  # lists: of *dish* all seven, of *7* the one
