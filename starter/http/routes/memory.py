"""Entries, categories, contexts, settings, statistics and the retrieval log of an agent."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, ValidationError

from mnestic.memory.knowledge.entries import (
    Entry,
    EntryKind,
    EntryQuery,
    EntryStatus,
    EntryType,
    Importance,
)
from mnestic.memory.knowledge.ingestion import MemoryStatistics
from mnestic.memory.knowledge.world.categories import CategoryOverview
from mnestic.memory.retrieval.agent_settings import AgentSettings
from mnestic.memory.retrieval.contexts import TIERS, Context, TierName
from mnestic.memory.retrieval.queries import MOST_RESULTS, PresetName, Rerank
from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.memory.validation import refused
from mnestic.starter.client.contexts import CONTEXT_ENTRIES
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of
from mnestic.starter.http.routes.retrieval import Asker, Question
from mnestic.starter.http.values import RequestBody, Timestamp

router = APIRouter(prefix=VERSION, tags=["memory"])
ReadCall = Annotated[AgentCall, agent_call("read")]
MOST_TOKENS = 100_000


class SettingsIn(RequestBody):
    """The settings to change; the others stay."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"auto_retrieve_max_results": 6, "auto_retrieve_min_score": 0.4}
        },
    )

    auto_retrieve_enabled: bool | None = None
    auto_retrieve_max_results: int | None = None
    auto_retrieve_min_score: float | None = None
    obsidian_context_enabled: bool | None = None
    obsidian_context_notes: tuple[str, ...] | None = None
    obsidian_context_tag: str | None = None
    language: str | None = None
    retrieval_preset: PresetName | None = None
    rerank: Rerank | None = None
    retrieval_policy: dict[str, float] | None = None


class Categories(BaseModel):
    """The categories of an agent's facts."""

    items: tuple[CategoryOverview, ...]


@router.get("/items")
async def list_items(  # noqa: PLR0913, PLR0917 - its parameters are those of the list
    call: ReadCall,
    kind: Annotated[list[EntryKind], Query(description="Messages by default")] = [],  # noqa: B006 - FastAPI reads it
    entry_type: Annotated[list[EntryType], Query(description="Only of these types")] = [],  # noqa: B006 - likewise
    status: EntryStatus = "active",
    session_id: str | None = None,
    channel: str | None = None,
    speaker: str | None = None,
    subject: str | None = None,
    tag: Annotated[list[str], Query(description="Only with one of these tags")] = [],  # noqa: B006 - likewise
    min_importance: Importance | None = None,
    max_importance: Importance | None = None,
    since: Timestamp | None = None,
    until: Timestamp | None = None,
    limit: PageLimit = 100,
    cursor: Cursor = None,
) -> Page[Entry]:
    """Lists entries, newest first. Levels of importance are high, medium, low and minimal."""
    try:
        query = EntryQuery(
            kinds=tuple(kind) or ("message",),
            entry_types=tuple(entry_type),
            statuses=(status,),
            session_id=session_id,
            channel=channel,
            speaker=speaker,
            subject=subject,
            tags=tuple(tag),
            min_importance=min_importance,
            max_importance=max_importance,
            since=since,
            until=until,
        )
    except ValidationError as error:
        raise refused("query", error, model=EntryQuery) from None
    return page_of(await call.memory.entries.list(query, limit=limit, cursor=cursor))


@router.get("/categories")
async def list_categories(call: ReadCall) -> Categories:
    """Lists the categories of facts, each with a summary of what is so now."""
    return Categories(items=await call.memory.contexts.list_categories())


@router.get("/context")
async def context(  # noqa: PLR0917 - its parameters are those of the query
    call: ReadCall,
    text: Question,
    max_tokens: Annotated[
        int, Query(ge=0, le=MOST_TOKENS, description="The limit of the whole block")
    ] = 2000,
    limit: Annotated[
        int, Query(ge=1, le=MOST_RESULTS, description="The maximum number of search results")
    ] = CONTEXT_ENTRIES,
    tier: Annotated[list[TierName], Query(description="Only of these; all by default")] = [],  # noqa: B006 - FastAPI reads it
    asker: Asker = None,
) -> Context:
    """What memory has about a question, as one block for a prompt, and what was left out."""
    return await call.memory.context_for_query(
        text, max_tokens=max_tokens, limit=limit, tiers=tier or TIERS, asker=asker
    )


@router.get("/memory/settings")
async def settings(call: ReadCall) -> AgentSettings:
    """The agent's settings in force."""
    return await call.memory.settings.get()


@router.patch("/memory/settings")
async def change_settings(
    body: SettingsIn, call: Annotated[AgentCall, agent_write("write")]
) -> AgentSettings:
    """Changes settings, all or none; they hold from the next message on."""
    changes = body.model_dump(exclude_unset=True)

    async def work(memory: MemoryClient) -> AgentSettings:
        return await memory.settings.change(**changes)

    return await call.once(changes, AgentSettings, work)


@router.get("/memory/stats")
async def stats(call: ReadCall) -> MemoryStatistics:
    """How many entries, messages and facts there are, by state."""
    return await call.memory.stats()


@router.get("/memory/retrievals")
async def list_retrievals(
    call: ReadCall, limit: PageLimit = 100, cursor: Cursor = None
) -> Page[StoredLogEntry]:
    """Lists what was put before messages automatically, the latest first."""
    return page_of(await call.memory.retrieval_log.list(limit=limit, cursor=cursor))
