"""Memory as files: an agent's whole memory to download, and conversations and exports to read in."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, File, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from mnestic.starter.client.imports.storing import check_export, import_export
from mnestic.starter.client.ingestion import receive_conversation
from mnestic.starter.http.bodies import MOST_FORM_BYTES
from mnestic.starter.http.calls import tenants_of
from mnestic.starter.http.pages.facts import MEMORY, ReadCall, WriteCall
from mnestic.starter.http.pages.rendering import render
from mnestic.starter.http.routes.agents import export as export_lines
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.importers.export_files import is_export, read_export
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import ImportOptions

router = APIRouter()
TRANSFER = f"{MEMORY}/transfer"
_LONGEST_NAME = 100  # characters of a file's name, from its end


@router.get(TRANSFER)
async def show(request: Request, call: ReadCall) -> Response:
    """What can be read in, and the export."""
    return _page(request, call.agent_id)


@router.get(f"{TRANSFER}/export")
async def export(request: Request, call: ReadCall) -> StreamingResponse:
    """The agent's memory as a file."""
    answer = await export_lines(request, call)
    answer.headers["Content-Disposition"] = f'attachment; filename="{call.agent_id}.jsonl"'
    return answer


@router.post(TRANSFER)
async def import_file(
    request: Request, call: WriteCall, file: Annotated[UploadFile, File()]
) -> Response:
    """Stores what is new of a file: an export of this or of another program, or a conversation."""
    name = Path(file.filename or "file").name
    with TemporaryDirectory() as folder:
        # Programs name things by the folders of their files, so these are the same at each upload.
        path = Path(folder) / "programs" / "upload" / (name[-_LONGEST_NAME:].strip(".\0") or "file")
        path.parent.mkdir(parents=True)
        await asyncio.to_thread(path.write_bytes, await file.read())
        received = await _import(request, call, path, source=f"file {name}")
    return _page(request, call.agent_id, received=received)


async def _import(request: Request, call: WriteCall, path: Path, *, source: str) -> str:
    """What was stored, in words."""
    if await asyncio.to_thread(is_export, path):
        # It holds rules of the tenant, sessions and records, which no other way in lets a key write that may write memories alone.
        await tenants_of(request).require(
            call.access, "admin", agent_id=None, target=f"{TRANSFER}: {source}"
        )
        count = await call.memory.import_lines(read_export(path, name=source), source=source)
        return f"{count.lines} lines read, {count.messages} messages new"
    options = ImportOptions(owner=call.agent_id)
    found = await asyncio.to_thread(find_export, path, options, source=source)
    if found is not None:
        await asyncio.to_thread(check_export, found, source=source)
        reports = [one async for one in import_export(call.memory, found)]
        new = sum(one.new for one in reports[-1].channels.values()) if reports else 0
        return f"{found.format}: {new} messages new"
    conversation = await asyncio.to_thread(
        read_conversation, path, name=source, owner=call.agent_id
    )
    batches = receive_conversation(
        call.client,
        conversation,
        agent_id=call.agent_id,
        channel="file",
        actor=call.access.actor,
    )
    return f"{sum([one.new async for one in batches])} messages new"


def _page(request: Request, agent_id: str, *, received: str | None = None) -> Response:
    return render(
        request,
        "transfer.html",
        agent_id=agent_id,
        received=received,
        most_bytes=MOST_FORM_BYTES,
    )
