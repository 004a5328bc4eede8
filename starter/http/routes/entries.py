"""The entries of an agent, one at a time: read with its provenance, changed, archived, restored and deleted by a person."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, ValidationError

from mnestic.memory.knowledge.entries import (
    MOST_NAMES,
    Entry,
    EntryQuery,
    EntryType,
    Importance,
)
from mnestic.memory.provenance import EntryProvenance
from mnestic.memory.validation import refused
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.routes.facts import FactsChanged
from mnestic.starter.http.values import RequestBody, Timestamp

router = APIRouter(prefix=VERSION, tags=["entries"])
ENTRY = "/memory/entries/{key}"
WriteCall = Annotated[AgentCall, agent_write("write")]
EntryKey = Annotated[str, Path(description="The id of the entry", examples=["e3a1"])]


class EntryPatch(RequestBody):
    """What is to be otherwise with an entry; what is not given stays as it is."""

    content: str = Field("", description="Its text; its facts do not change")
    entry_type: EntryType = "knowledge"
    subjects: tuple[str, ...] = Field(
        (), max_length=MOST_NAMES, description="The persons or things that it is about"
    )
    tags: tuple[str, ...] = Field((), max_length=MOST_NAMES, examples=[["travel"]])
    aliases: tuple[str, ...] = Field(
        (), max_length=MOST_NAMES, description="Other words by which searches find it"
    )
    critical: bool = Field(False, description="Whether it is protected from deletion by policies")
    parent: str | None = Field(None, description="The entry that it belongs to; null for none")
    expires_at: Timestamp | None = Field(None, description="When it expires; null for never")


class EntryFilters(RequestBody):
    """Which entries, as in the list; at least one filter is given."""

    entry_types: tuple[EntryType, ...] = ()
    session_id: str | None = None
    channel: str | None = None
    speaker: str | None = None
    subject: str | None = None
    tags: tuple[str, ...] = ()
    max_importance: Importance | None = Field(
        None, description="Only below; also a level", examples=["low"]
    )
    since: Timestamp | None = None
    until: Timestamp | None = None


class ArchivedNumber(BaseModel):
    """How many entries were archived."""

    archived: int


@router.get(ENTRY)
async def get_entry(
    key: EntryKey, call: Annotated[AgentCall, agent_call("read")]
) -> EntryProvenance:
    """An entry, live or archived, with where it comes from, what was learned from it, and what became of it."""
    return await call.memory.entries.provenance(key)


@router.patch(ENTRY)
async def change_entry(key: EntryKey, body: EntryPatch, call: WriteCall) -> Entry:
    """Changes an entry; facts do not change, since they follow from messages."""
    changes = body.model_dump(exclude_unset=True)

    async def work(memory: MemoryClient) -> Entry:
        return await memory.entries.change(key, **changes)

    return await call.once(
        body.model_dump(mode="json", exclude_unset=True) | {"key": key}, Entry, work
    )


@router.delete(ENTRY)
async def delete_entry(
    key: EntryKey,
    call: WriteCall,
    facts: Annotated[
        bool, Query(description="Also delete the facts that follow from it alone")
    ] = False,
) -> FactsChanged:
    """Deletes an entry, live or archived; nothing is extracted from its message any more."""

    async def work(memory: MemoryClient) -> FactsChanged:
        return FactsChanged(changes=await memory.entries.delete(key, facts=facts))

    return await call.once({"key": key, "facts": facts}, FactsChanged, work)


@router.post("/memory/archive")
async def archive_entries(body: EntryFilters, call: WriteCall) -> ArchivedNumber:
    """Moves all entries of some filters to the archive, where no search finds them; their facts stay."""
    try:
        query = EntryQuery(**body.model_dump(exclude_unset=True))
    except ValidationError as error:
        raise refused("entries", error, model=EntryQuery) from None

    async def work(memory: MemoryClient) -> ArchivedNumber:
        return ArchivedNumber(archived=await memory.entries.archive_matching(query))

    return await call.once(body.model_dump(mode="json"), ArchivedNumber, work)


@router.post(f"{ENTRY}/archive")
async def archive_entry(key: EntryKey, call: WriteCall) -> Entry:
    """Moves an entry to the archive, where no search finds it; its facts stay."""

    async def work(memory: MemoryClient) -> Entry:
        await memory.entries.archive(key)
        return await memory.entries.get(key)

    return await call.once({"key": key}, Entry, work)


@router.post(f"{ENTRY}/restore")
async def restore_entry(key: EntryKey, call: WriteCall) -> Entry:
    """Restores an archived entry whole."""

    async def work(memory: MemoryClient) -> Entry:
        return await memory.entries.restore(key)

    return await call.once({"key": key}, Entry, work)


@router.post(f"{ENTRY}/reinstate")
async def reinstate_entry(key: EntryKey, call: WriteCall) -> Entry:
    """Takes back the supersession of an entry, so that searches find it again."""

    async def work(memory: MemoryClient) -> Entry:
        return await memory.entries.reinstate(key)

    return await call.once({"key": key}, Entry, work)
