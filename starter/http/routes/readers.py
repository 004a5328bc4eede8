"""The readers of an agent's sessions and channels: who may read what is said there from then on."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault, ReaderDefaults
from mnestic.memory.validation import Name
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.values import RequestBody

router = APIRouter(prefix=VERSION, tags=["memory"])
PATH = "/memory/readers"
ReadCall = Annotated[AgentCall, agent_call("read")]
WriteCall = Annotated[AgentCall, agent_write("write")]


class ReadersIn(RequestBody, ReaderDefault):
    """The readers of a session or a channel."""

    model_config = ConfigDict(defer_build=False)


class RemovedReaders(BaseModel):
    """Which session or channel has no readers any more."""

    kind: DefaultKind
    name: str


@router.get(PATH)
async def list_readers(call: ReadCall) -> ReaderDefaults:
    """Lists the sessions and channels that have readers."""
    return ReaderDefaults(items=await call.memory.readers.list())


@router.put(PATH)
async def set_readers(body: ReadersIn, call: WriteCall) -> ReaderDefault:
    """Sets who may read what is said in a session or a channel from now on."""

    async def work(memory: MemoryClient) -> ReaderDefault:
        return await memory.readers.set(body.kind, body.name, body.readers)

    return await call.once(body.model_dump(mode="json"), ReaderDefault, work)


@router.delete(PATH)
async def remove_readers(
    call: WriteCall,
    *,
    kind: Annotated[DefaultKind, Query(examples=["channel"])],
    name: Annotated[Name, Query(description="As in a `PUT`", examples=["hr"])],
) -> RemovedReaders:
    """Has everybody read what is said in a session or a channel from now on; what was said before keeps its readers."""
    removed = RemovedReaders(kind=kind, name=name)

    async def work(memory: MemoryClient) -> RemovedReaders:
        await memory.readers.remove(kind, name)
        return removed

    return await call.once(removed.model_dump(mode="json"), RemovedReaders, work)
