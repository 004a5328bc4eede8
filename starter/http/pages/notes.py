"""The notes of a vault that are put before messages: chosen by path or by tag, with their beginnings."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from mnestic.starter.http.pages.facts import MEMORY, ReadCall, WriteCall
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
PATH = f"{MEMORY}/notes"
NotePath = Annotated[str, Form(min_length=1, max_length=1024)]


@router.get(PATH)
async def show(request: Request, call: ReadCall) -> Response:
    """The notes that were chosen, and those that have the tag."""
    found = await call.memory.auto_retrieve("notes", "page", is_preview=True)
    return render(
        request,
        "notes.html",
        settings=await call.memory.settings.get(),
        notes=found.notes,
        skipped=[one for one in found.skipped if one.source == "notes"],
    )


@router.post(PATH)
async def choose(
    call: WriteCall,
    enabled: Annotated[bool, Form()] = False,
    tag: Annotated[str, Form(max_length=128)] = "",
) -> Response:
    """Changes whether notes are added, and with which tag."""
    await call.memory.settings.change(
        obsidian_context_enabled=enabled, obsidian_context_tag=tag.strip().removeprefix("#")
    )
    return back_to(PATH, done="saved", agent_id=call.agent_id)


@router.post(f"{PATH}/add")
async def add(call: WriteCall, note: NotePath) -> Response:
    """Adds a note by its path."""
    chosen = (await call.memory.settings.get()).obsidian_context_notes
    await call.memory.settings.change(
        obsidian_context_notes=tuple(dict.fromkeys((*chosen, note.strip())))
    )
    return back_to(PATH, done="note_added", agent_id=call.agent_id)


@router.post(f"{PATH}/remove")
async def remove(call: WriteCall, note: NotePath) -> Response:
    """Removes a note from those that were chosen; the vault keeps it."""
    chosen = (await call.memory.settings.get()).obsidian_context_notes
    await call.memory.settings.change(
        obsidian_context_notes=tuple(one for one in chosen if one != note)
    )
    return back_to(PATH, done="note_removed", agent_id=call.agent_id)
