"""Searches of an agent's memory."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, Field

from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.retrieval.missing_entries import SearchTrace
from mnestic.memory.retrieval.queries import LONGEST_QUESTION, Mode, Rerank, Retrieval
from mnestic.starter.client.keyword_arguments import SearchArguments
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call
from mnestic.starter.http.values import Timestamp
from mnestic.starter.short_texts import shortened

router = APIRouter(prefix=VERSION, tags=["retrieval"])
MOST_RESULTS = 100
Question = Annotated[
    str,
    Query(
        alias="q",
        min_length=1,
        max_length=LONGEST_QUESTION,
        description="The question",
        examples=["Where does Mara live?"],
    ),
]
Limit = Annotated[int, Query(ge=1, le=MOST_RESULTS, description="The maximum number of results")]
Asker = Annotated[
    str | None,
    Query(
        min_length=1,
        description="Whom the question means by *I*, by name; by default the reader",
        examples=["Mara"],
    ),
]
MinScore = Annotated[
    float | None, Query(ge=0, le=1, description="Leave out results below this score")
]


class SearchHit(BaseModel):
    """A result in short."""

    id: str
    score: float
    channel: str | None
    at: AwareDatetime
    excerpt: str
    archived: bool = Field(
        description="Whether it comes out of the archive, since nothing live answers"
    )
    signals: dict[str, float] = Field(
        description="The parts of the score, each with its weight", examples=[{"words": 0.31}]
    )


class SearchOut(BaseModel):
    """The results of a search, the best first."""

    results: tuple[SearchHit, ...]


@router.get("/retrieve")
async def retrieve(  # noqa: PLR0913, PLR0917 - its parameters are those of the query
    call: Annotated[AgentCall, agent_call("read")],
    text: Question,
    mode: Mode = "hybrid",
    limit: Limit = 10,
    min_score: MinScore = None,
    entry_type: Annotated[list[EntryType], Query(description="Only of these types")] = [],  # noqa: B006 - FastAPI reads it
    tag: Annotated[list[str], Query(description="Only with these tags")] = [],  # noqa: B006 - likewise
    subject: str | None = None,
    session_id: str | None = None,
    channel: str | None = None,
    speaker: str | None = None,
    since: Timestamp | None = None,
    until: Timestamp | None = None,
    as_of: Timestamp | None = None,
    rerank: Rerank | None = None,
    asker: Asker = None,
) -> Retrieval:
    """Searches memory: the best results first, and none if nothing is relevant."""
    arguments: SearchArguments = {
        "mode": mode,
        "limit": limit,
        "min_score": min_score,
        "entry_types": tuple(entry_type),
        "tags": tuple(tag),
        "subject": subject,
        "session_id": session_id,
        "channel": channel,
        "speaker": speaker,
        "since": since,
        "until": until,
        "as_of": as_of,
        "rerank": rerank,
        "asker": asker,
    }
    return await call.retrieve(text, arguments)


@router.get("/memory/search")
async def search(  # noqa: PLR0917 - its parameters are those of the query
    call: Annotated[AgentCall, agent_call("read")],
    text: Question,
    mode: Mode = "hybrid",
    limit: Limit = 10,
    min_score: MinScore = None,
    asker: Asker = None,
) -> SearchOut:
    """Searches memory as `/v1/retrieve` does, with the first 200 characters of each result."""
    found = await call.retrieve(
        text, {"mode": mode, "limit": limit, "min_score": min_score, "asker": asker}
    )
    hits = (
        SearchHit(
            id=one.entry.id,
            score=one.score,
            channel=one.entry.channel,
            at=one.entry.at,
            excerpt=shortened(one.entry.content),
            archived=one.archived,
            signals=one.signals,
        )
        for one in found.results
    )
    return SearchOut(results=tuple(hits))


@router.get("/memory/search/why")
async def why(  # noqa: PLR0917 - its parameters are those of the query
    call: Annotated[AgentCall, agent_call("read")],
    text: Question,
    expect: Annotated[
        str, Query(description="The id of the entry that is expected", examples=["e3a1"])
    ],
    mode: Mode = "hybrid",
    limit: Limit = 10,
    min_score: MinScore = None,
    asker: Asker = None,
) -> SearchTrace:
    """Says at which stage a search leaves out an entry that is expected, and by how much."""
    return await call.memory.why(
        text, expect=expect, mode=mode, limit=limit, min_score=min_score, asker=asker
    )
