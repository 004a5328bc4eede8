"""Messages in: what agents hear and what their tools return; what is extracted from a text, and summaries."""

import uuid
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from mnestic.memory.knowledge.entries import Names
from mnestic.memory.knowledge.extraction import ExtractionPreview, TurnKind
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.knowledge.world.categories import CategoryOverview
from mnestic.memory.sharing.readers import Readers
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.values import RequestBody, Timestamp

WriteCall = Annotated[AgentCall, agent_write("write")]
router = APIRouter(prefix=VERSION, tags=["knowledge"])
MOST_MESSAGES = 500


class MessageIn(RequestBody):
    """A message of a conversation, or the result of a tool."""

    speaker: str = Field(description="Who said it; of a tool's result, the tool", examples=["Mara"])
    content: str = Field(examples=["I moved to Porto."])
    session_id: str = Field(description="The conversation", examples=["chat-1"])
    source_id: str | None = Field(
        None,
        description="Its id at the source: a message that is sent again changes nothing. Without one, it is new",
        examples=["m-17"],
    )
    channel: str = Field("http", examples=["chat"])
    at: Timestamp | None = Field(
        None, description="When it was said; now by default", examples=["2026-11-27T09:00:00Z"]
    )
    kind: TurnKind = "message"
    tags: Names = Field((), description="The tags of its entry", examples=[["travel"]])
    readers: Readers | None = Field(
        None,
        description="Who may read it and what follows from it: ids and patterns; everybody by default",
        examples=[["user.anna", "user.sales.*"]],
    )

    def as_incoming(self, now: datetime) -> IncomingMessage:
        """The message as memory takes it."""
        resource = Resource(
            session_id=self.session_id,
            source_id=uuid.uuid4().hex if self.source_id is None else self.source_id,
            channel=self.channel,
            speaker=self.speaker,
            content=self.content,
            at=self.at or now,
            readers=self.readers,
        )
        return IncomingMessage(resource=resource, kind=self.kind, tags=self.tags)


class IngestIn(RequestBody):
    """Messages to store; their facts are extracted in the background."""

    messages: list[MessageIn] = Field(min_length=1, max_length=MOST_MESSAGES)


class TextIn(RequestBody):
    """A message to read without storing it."""

    content: str = Field(examples=["I moved to Porto."])
    speaker: str = Field("user", description="Who said it, to whom “I” refers", examples=["Mara"])
    at: Timestamp | None = Field(
        None, description="When it was said; now by default", examples=["2026-11-27T09:00:00Z"]
    )


class SummarizeIn(RequestBody):
    """What to summarise: all categories of the agent's facts, or one."""

    category: Category | None = Field(None, examples=["profile"])


class Summaries(BaseModel):
    """The summaries, by category."""

    items: tuple[CategoryOverview, ...]


class IngestOut(BaseModel):
    """How many messages came, and how many of them were new."""

    received: int
    new: int


@router.post("/ingest")
async def ingest(body: IngestIn, call: WriteCall) -> IngestOut:
    """Stores messages, each of which is searchable at once, and has facts extracted from them."""

    async def work(memory: MemoryClient) -> IngestOut:
        now = datetime.now(UTC)
        new = await memory.ingest([message.as_incoming(now) for message in body.messages])
        return IngestOut(received=len(body.messages), new=new)

    return await call.once(body.model_dump(mode="json"), IngestOut, work)


@router.post("/extract")
async def extract(
    body: TextIn, call: Annotated[AgentCall, agent_call("write")]
) -> ExtractionPreview:
    """Shows what would be extracted from a text; nothing is stored but what a model's call cost."""
    return await call.client.extract(call.agent_id, body.content, speaker=body.speaker, at=body.at)


@router.post("/summarize")
async def summarize(body: SummarizeIn, call: WriteCall) -> Summaries:
    """Writes the summaries of categories whose facts have changed, as each night does, and returns them."""

    async def work(memory: MemoryClient) -> Summaries:
        written = await memory.contexts.summarize()
        chosen = (one for one in written if body.category in {None, one.name})
        return Summaries(items=tuple(chosen))

    return await call.once(body.model_dump(mode="json"), Summaries, work)
