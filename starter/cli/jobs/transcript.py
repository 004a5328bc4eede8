"""`mnestic job transcript`: prompts, replies, tool calls, messages and payloads of a job."""

import json
from collections.abc import Iterator
from typing import Any

from rich.padding import Padding

from mnestic.memory.jobs.timeline import TimelineEntry
from mnestic.memory.jobs.transcripts import JobTranscript, TranscriptEntry
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import resolve_job_id
from mnestic.starter.cli.jobs.jobs import JobId
from mnestic.starter.cli.jobs.lines import about, title
from mnestic.starter.cli.output import AsJson, out, print_json, run, visible

_INDENT = 4


def transcript(id_or_prefix: JobId, as_json: AsJson = False) -> None:
    """Show the transcript of a job: prompts and replies, tool calls, messages, and what resumed its waits."""

    async def work() -> None:
        async with await connect_client() as client:
            job_id = await resolve_job_id(client, id_or_prefix)
            job_transcript = await client.job_transcript(job_id)
        if as_json:
            print_json(job_transcript.model_dump(mode="json"))
        else:
            _print(job_transcript)

    run(work())


def _print(job_transcript: JobTranscript) -> None:
    out.print(f"Job {job_transcript.job_id} · session {job_transcript.session_id}", soft_wrap=True)
    if not job_transcript.complete:
        out.print("Temporal no longer has its whole history: prompts may be missing.")
    for entry in job_transcript.entries:
        timeline_entry = TimelineEntry(at=entry.at, what=entry.what, detail=entry.detail)
        out.print()
        heading = " · ".join(
            part for part in (title(timeline_entry), about(timeline_entry)) if part
        )
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
        message = entry.message
        yield ("answer" if entry.prompt else message.channel or message.role), message.content
    if entry.episode is not None:
        yield "episode", entry.episode
    if entry.ask is not None:
        yield "wait prompt", entry.ask
    if entry.payload is not None:
        yield "payload", _json(entry.payload)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
