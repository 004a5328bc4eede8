"""A search of an agent's memory, with the parts of each score, and why an expected entry does not come."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.retrieval.missing_entries import SearchTrace
from mnestic.memory.retrieval.queries import LONGEST_QUESTION, Mode, Retrieval
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.pages.facts import MEMORY, ReadCall
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
_LIMIT = 10
Question = Annotated[str, Query(max_length=LONGEST_QUESTION)]


@router.get(f"{MEMORY}/search")
async def search(
    request: Request,
    call: ReadCall,
    q: Question = "",
    mode: Mode = "hybrid",
    expected: Question = "",
) -> Response:
    """The results, and what became of the entry that was expected among them."""
    found: Retrieval | None = None
    missing: Entry | None = None
    trace: SearchTrace | None = None
    if q.strip():
        found = await call.retrieve(q, {"mode": mode, "limit": _LIMIT})
        missing = await _expected(call.memory, expected) if expected.strip() else None
        if missing is not None:
            trace = await call.memory.why(q, expect=missing.id, mode=mode, limit=_LIMIT)
    return render(
        request,
        "search.html",
        q=q,
        mode=mode,
        expected=expected,
        found=found,
        missing=missing,
        trace=trace,
    )


async def _expected(memory: MemoryClient, text: str) -> Entry | None:
    """The entry, current or archived, that has most of the words."""
    found = await memory.retrieve(
        text,
        mode="text",
        limit=1,
        min_score=0,
        statuses=("active", "archived"),
        is_access=False,
    )
    return found.results[0].entry if found.results else None
