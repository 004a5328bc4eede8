"""The facts of an agent: listed, added and deleted by a person."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from mnestic.memory.knowledge.facts import Fact, FactChange, FactStatus
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of
from mnestic.starter.http.values import RequestBody, Timestamp

router = APIRouter(prefix=VERSION, tags=["facts"])
WriteCall = Annotated[AgentCall, agent_write("write")]
FactKey = Annotated[str, Path(description="The id of the fact", examples=["f3a1"])]


class FactIn(RequestBody):
    """A fact that a person states."""

    subject: str = Field(description="The person or thing that it is about", examples=["Mara"])
    predicate: str = Field(
        description="If it has one object at a time, the new fact supersedes the last",
        examples=["lives_in"],
    )
    object: str = Field(description="What its subject has, is or does", examples=["Porto"])
    valid_from: Timestamp | None = Field(None, description="Now by default")
    valid_to: Timestamp | None = None
    confidence: float = Field(1, ge=0, le=1)


class FactObject(RequestBody):
    """The new object of a fact."""

    object: str = Field(examples=["Lisbon"])


class FactsChanged(BaseModel):
    """The facts that changed, each before and after."""

    changes: tuple[FactChange, ...]


@router.get("/memory/facts")
async def list_facts(  # noqa: PLR0917 - its parameters are those of the list
    call: Annotated[AgentCall, agent_call("read")],
    subject: Annotated[str | None, Query(description="Only about this, by any known name")] = None,
    predicate: Annotated[str | None, Query(description="Only of this predicate")] = None,
    status: Annotated[list[FactStatus], Query(description="Active ones by default")] = [],  # noqa: B006 - FastAPI reads it
    as_of: Annotated[Timestamp | None, Query(description="Valid at this time")] = None,
    limit: PageLimit = 100,
    cursor: Cursor = None,
) -> Page[Fact]:
    """Lists facts by subject, predicate, status and time."""
    return page_of(
        await call.memory.facts.list(
            subject=subject,
            predicate=predicate,
            statuses=tuple(status) or None,
            as_of=as_of,
            limit=limit,
            cursor=cursor,
        )
    )


@router.post("/memory/facts")
async def add_fact(body: FactIn, call: WriteCall) -> FactsChanged:
    """Adds a fact; a new value of a single-valued predicate supersedes the last one."""

    async def work(memory: MemoryClient) -> FactsChanged:
        return FactsChanged(changes=await memory.facts.add(**body.model_dump()))

    return await call.once(body.model_dump(mode="json"), FactsChanged, work)


@router.patch("/memory/facts/{key}")
async def change_fact(key: FactKey, body: FactObject, call: WriteCall) -> FactsChanged:
    """Changes the object of an active fact as of now; the old one stays in the history."""

    async def work(memory: MemoryClient) -> FactsChanged:
        return FactsChanged(changes=await memory.facts.change(key, body.object))

    return await call.once({"key": key, "object": body.object}, FactsChanged, work)


@router.delete("/memory/facts/{key}")
async def delete_fact(key: FactKey, call: WriteCall) -> FactsChanged:
    """Deletes a fact with all periods of its object; a later message can state it again."""

    async def work(memory: MemoryClient) -> FactsChanged:
        return FactsChanged(changes=await memory.facts.delete(key))

    return await call.once({"key": key}, FactsChanged, work)
