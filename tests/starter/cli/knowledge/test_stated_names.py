"""`mnestic memory facts add` about a name that somebody stated of themselves in an added message."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")


async def test_the_fact_answers_and_the_message_before_it_does_not(
    ask: Ask,
    client: MnesticClient,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> None:
    async with run_worker():
        await ask("memory", "add", "My name is Kim. I live in Ghent.", *ADA)
        await (await start_ingest(client, agent_id="ada")).result()
    await ask("memory", "facts", "add", "Kim", "lives_in", "Oslo", *ADA)

    found = await ask("memory", "search", "Where does Kim live?", *ADA, "--json")

    (answer,) = found.document["results"]
    assert "Oslo" in answer["entry"]["content"]
    listed = await ask("memory", "facts", "list", "--subject", "Kim", *ADA, "--json")
    homes = [one for one in listed.document["facts"] if one["predicate"] == "lives_in"]
    assert [home["object"] for home in homes] == ["Oslo"]
