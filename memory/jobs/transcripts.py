"""Transcripts: a job's timeline with its texts, which the timeline itself leaves out.

The joining is pure: texts are found by the keys of the operations that wrote them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.timeline import JobTimeline, TimelineEntry, TimelineEventKind
from mnestic.memory.jobs.waits import JobWait
from mnestic.memory.jobs.working_memory import Message, ToolCall


class Prompt(DeferredModel):
    """The prompt of a model. Templates that name memory are as in the plan, not filled in."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt: str
    system: str | None = None


class TranscriptEntry(DeferredModel):
    """One event of a job, with the text that a model, a tool or a person gave."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    what: TimelineEventKind
    detail: dict[str, Any] = Field(default_factory=dict)
    prompt: Prompt | None = None
    message: Message | None = None
    tool: ToolCall | None = None
    episode: str | None = None
    ask: str | None = None
    payload: Any = None


class JobTranscript(DeferredModel):
    """What a job thought and emitted, in the order of time.

    `complete` is false when Temporal does not keep all of the job's history any more: then prompts are missing, and
    steps that wrote nothing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    job_id: str
    session_id: str
    entries: tuple[TranscriptEntry, ...]
    complete: bool


class JobTexts(DeferredModel):
    """The texts of a job: prompts by operation, payloads by request, messages and tool calls by operation."""

    model_config = ConfigDict(frozen=True)

    prompts: Mapping[str, Prompt] = Field(default_factory=dict)
    payloads: Mapping[str, Any] = Field(default_factory=dict)
    messages: Mapping[str, Message] = Field(default_factory=dict)
    tools: Mapping[str, ToolCall] = Field(default_factory=dict)


def transcript_of(
    timeline: JobTimeline,
    texts: JobTexts,
    *,
    session_id: str,
    waits: Sequence[JobWait],
    episodes: Sequence[Episode],
) -> JobTranscript:
    """A timeline with the texts of its operations, its waits and its episodes."""
    asks = {wait.wait_id: wait.ask for wait in waits}
    summaries = {episode.id: episode.summary for episode in episodes}
    entries = tuple(_entry(each, texts, ask=asks, summaries=summaries) for each in timeline.entries)
    return JobTranscript(
        job_id=timeline.job_id, session_id=session_id, entries=entries, complete=timeline.complete
    )


def _entry(
    entry: TimelineEntry,
    texts: JobTexts,
    *,
    ask: Mapping[str, str | None],
    summaries: Mapping[str, str],
) -> TranscriptEntry:
    keys = [key for key in entry.detail.get("operations", ()) if isinstance(key, str)]
    wait_id = entry.detail.get("wait_id", "")
    return TranscriptEntry(
        at=entry.at,
        what=entry.what,
        detail=entry.detail,
        prompt=_first(texts.prompts, keys),
        message=_first(texts.messages, keys),
        tool=_first(texts.tools, [place for key in keys for place in _calls(key)]),
        episode=summaries.get(entry.detail.get("episode_id", "")),
        ask=ask.get(wait_id) if entry.what == "wait_opened" else None,
        payload=texts.payloads.get(entry.detail.get("request_id", ""))
        if entry.what == "restored"
        else None,
    )


def _first(found: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((found[key] for key in keys if key in found), None)


def _calls(key: str) -> Iterator[str]:
    """The steps to which an operation may belong: its own, and the one before it."""
    place = place_of(key)
    if place is not None:
        job_id, epoch, step = place
        yield f"{job_id}/{epoch}/{step}"
        yield f"{job_id}/{epoch}/{step - 1}"


def place_of(key: str) -> tuple[str, str, int] | None:
    """Job, epoch and step that an operation's key names, if it is one of a step."""
    parts = key.split("/")
    if len(parts) < 4 or not parts[2].isdecimal():  # noqa: PLR2004 - as `operation_key` makes it
        return None
    return parts[0], parts[1], int(parts[2])
