"""The long-term records of an agent: read, written, deleted, listed and queried."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StrictFloat, StrictInt

from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.validation import Name
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of
from mnestic.starter.http.values import RequestBody

router = APIRouter(prefix=VERSION, tags=["records"])
ReadCall = Annotated[AgentCall, agent_call("read")]
WriteCall = Annotated[AgentCall, agent_write("write")]
Namespace = Annotated[
    Name,
    Query(description="The namespace, such as a schema of the contract", examples=["preferences"]),
]
Key = Annotated[Name, Query(description="The key in it", examples=["theme"])]
Version = Annotated[
    int | None, Query(ge=0, description="The version that the write follows; 0 for a new record")
]


class RecordIn(RequestBody):
    """A record to write; if the agent's contract has a schema of that namespace, the value must fit it."""

    namespace: Name = Field(examples=["preferences"])
    key: Name = Field(examples=["theme"])
    value: Any = Field(examples=[{"colour": "dark"}])
    metadata: dict[str, Any] | None = Field(None, description="What is known beside the value")
    ttl_seconds: StrictFloat | None = Field(
        None, gt=0, le=3_153_600_000, description="How long it lives; for ever by default"
    )
    expected_version: StrictInt | None = Field(
        None, ge=0, description="The version that the write follows; 0 for a new record"
    )


class RecordQueryIn(RequestBody):
    """Which records of a namespace are wanted, and in which order."""

    namespace: Name = Field(examples=["seo_audit_history"])
    filter: QueryFilter = Field(
        examples=[{"where": {"field": "score", "op": "lt", "value": 50}, "order_by": ["score"]}]
    )


class DeletedRecord(BaseModel):
    """The version that the deletion is."""

    version: int


@router.get("/record")
async def get_record(call: ReadCall, namespace: Namespace, key: Key) -> LongTermRecord:
    """A long-term record."""
    return await call.memory.records.get(namespace, key)


@router.put("/record")
async def put_record(body: RecordIn, call: WriteCall) -> LongTermRecord:
    """Writes a long-term record."""
    ttl = None if body.ttl_seconds is None else timedelta(seconds=body.ttl_seconds)

    async def work(memory: MemoryClient) -> LongTermRecord:
        return await memory.records.set(
            body.namespace,
            body.key,
            body.value,
            ttl=ttl,
            expected_version=body.expected_version,
            metadata=body.metadata,
        )

    return await call.once(body.model_dump(mode="json"), LongTermRecord, work)


@router.delete("/record")
async def delete_record(
    call: WriteCall, *, namespace: Namespace, key: Key, expected_version: Version = None
) -> DeletedRecord:
    """Deletes a long-term record; the version of its key goes on."""
    request = {"namespace": namespace, "key": key, "expected_version": expected_version}

    async def work(memory: MemoryClient) -> DeletedRecord:
        deleted = await memory.records.delete(namespace, key, expected_version=expected_version)
        return DeletedRecord(version=deleted.version)

    return await call.once(request, DeletedRecord, work)


@router.get("/records")
async def list_records(
    call: ReadCall,
    *,
    namespace: Annotated[Name | None, Query(description="Only of this namespace")] = None,
    limit: PageLimit = 100,
    cursor: Cursor = None,
) -> Page[LongTermRecord]:
    """Lists long-term records in the order of namespace and key."""
    return page_of(await call.memory.records.list(namespace, limit=limit, cursor=cursor))


@router.post("/records/query", status_code=HTTPStatus.OK)
async def query_records(body: RecordQueryIn, call: ReadCall) -> Page[LongTermRecord]:
    """The records of a namespace that pass a filter, in its order."""
    return page_of(await call.memory.records.query(body.namespace, body.filter))
