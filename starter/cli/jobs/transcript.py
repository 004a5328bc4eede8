"""`mnestic job transcript`: what a job thought, called, said and was told."""

import json
from collections.abc import Iterator
from typing import Any

from rich.padding import Padding

from mnestic.memory.jobs.timeline import TimelineEntry
from mnestic.memory.jobs.transcripts import JobTranscript, TranscriptEntry
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import job_named
from mnestic.starter.cli.jobs.jobs import JobId
from mnestic.starter.cli.jobs.lines import about, title
from mnestic.starter.cli.output import AsJson, out, print_json, run, visible

_INDENT = 4


def transcript(given: JobId, as_json: AsJson = False) -> None:
    """Show what a job thought and emitted: prompts and replies, tool calls, messages, and what resumed its waits."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await job_named(client, given)
            found = await client.job_transcript(job_id)
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print(found)

    run(work())


def _print(found: JobTranscript) -> None:
    out.print(f"Job {found.job_id} · session {found.session_id}", soft_wrap=True)
    if not found.complete:
        out.print("Temporal does not keep all of its history any more: prompts may be missing.")
    for entry in found.entries:
        told = TimelineEntry(at=entry.at, what=entry.what, detail=entry.detail)
        out.print()
        heading = " · ".join(part for part in (title(told), about(told)) if part)
        out.print(f"{entry.at:%Y-%m-%d %H:%M:%S}  {heading}", soft_wrap=True)
        for name, text in _texts(entry):
            _print_text(f"{name}: {text}")


def _print_text(text: str) -> None:
    """A text, indented; a terminal folds it, what is no terminal gets its lines as they are."""
    if out.is_terminal:
        out.print(Padding(visible(text), (0, 0, 0, _INDENT)))
        return
    for line in text.splitlines():
        out.print(" " * _INDENT + line, soft_wrap=True)


def _texts(entry: TranscriptEntry) -> Iterator[tuple[str, str]]:
    if entry.prompt is not None:
        if entry.prompt.system is not None:
            yield "system", entry.prompt.system
        yield "prompt", entry.prompt.prompt
    if entry.tool is not None:
        yield "arguments", _json(entry.tool.arguments)
        yield "result", _json(entry.tool.result)
    if entry.message is not None:
        said = entry.message
        yield ("answer" if entry.prompt else said.channel or said.role), said.content
    if entry.episode is not None:
        yield "episode", entry.episode
    if entry.ask is not None:
        yield "asks", entry.ask
    if entry.payload is not None:
        yield "payload", _json(entry.payload)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
