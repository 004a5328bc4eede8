"""Auto-retrieval of an agent: its settings, what it would put before a message, and what it has put before the latest ones."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.retrieval.queries import LONGEST_QUESTION
from mnestic.starter.http.pages.facts import MEMORY, ReadCall, WriteCall
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
PATH = f"{MEMORY}/auto-retrieval"
_LIMIT = 20


@router.get(PATH)
async def show(
    request: Request, call: ReadCall, cursor: Annotated[str | None, Query(max_length=2000)] = None
) -> Response:
    """The settings, a box to try them, and the log."""
    log, next_cursor = await call.memory.retrieval_log.list(limit=_LIMIT, cursor=cursor)
    return render(
        request,
        "auto_retrieval.html",
        settings=await call.memory.settings.get(),
        log=log,
        entries=await call.memory.entries.select([one.id for row in log for one in row.memories]),
        next_cursor=next_cursor,
    )


@router.post(PATH)
async def change(
    request: Request,
    call: WriteCall,
    results: Annotated[int, Form(ge=1, le=10)],
    score: Annotated[float, Form(ge=0.3, le=0.8)],
    enabled: Annotated[bool, Form()] = False,
) -> Response:
    """Changes the settings."""
    settings = await call.memory.settings.change(
        auto_retrieve_enabled=enabled,
        auto_retrieve_max_results=results,
        auto_retrieve_min_score=score,
    )
    return render(request, "auto_retrieval_saved.html", settings=settings)


@router.post(f"{PATH}/preview")
async def preview(
    request: Request,
    call: ReadCall,
    message: Annotated[str, Form(max_length=LONGEST_QUESTION)],
    channel: Annotated[str, Form(min_length=1, max_length=256)] = "page",
) -> Response:
    """What would be put before a message; nothing is logged or counted."""
    found = await call.memory.auto_retrieve(message, channel, is_preview=True)
    return render(request, "auto_retrieval_preview.html", found=found)
