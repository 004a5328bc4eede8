"""What became of what an agent's inbox was told."""

from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient


async def entries(client: MnesticClient) -> dict[str, Entry]:
    """The agent's entries by source id."""
    found, cursor = await client.memory("ada").entries.list(EntryQuery(), limit=1000)
    while cursor:
        more, cursor = await client.memory("ada").entries.list(
            EntryQuery(), limit=1000, cursor=cursor
        )
        found += more
    assert len({entry.source_id for entry in found}) == len(found)
    return {entry.source_id or "": entry for entry in found}


async def believed(client: MnesticClient, subject: str) -> set[tuple[str, str]]:
    found, _ = await client.memory("ada").facts.list(subject=subject)
    return {(fact.predicate, fact.object) for fact in found}
