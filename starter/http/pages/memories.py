"""An agent's memories: listed, filtered and searched; each with its provenance, and changed one by one or several at once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from pydantic import ValidationError

from mnestic.memory.knowledge.entries import ENTRY_TYPES, Entry, EntryQuery, EntryType
from mnestic.memory.retrieval.queries import LONGEST_QUESTION
from mnestic.memory.validation import refused
from mnestic.starter.client.entries import EntryClient
from mnestic.starter.client.keyword_arguments import EntryChanges
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.pages.facts import MEMORY, ReadCall, WriteCall
from mnestic.starter.http.pages.for_each import MOST_AT_ONCE, for_each
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
MEMORIES = f"{MEMORY}/entries"
_LIMIT = 50
_MORE = "more"  # in the place of a cursor: a search has found as many as it may
Action = Literal["pin", "unpin", "archive", "restore", "delete"]
_DONE: Mapping[str, str] = {
    "pin": "memory_pinned",
    "unpin": "memory_unpinned",
    "archive": "memory_archived",
    "restore": "memory_restored",
    "reinstate": "memory_reinstated",
    "delete": "memory_deleted",
}
_Text = Annotated[str, Query(max_length=1000)]
_Day = Annotated[date | Literal[""], Query()]
EntryIds = Annotated[list[str], Form(max_length=MOST_AT_ONCE)]


class Filter(NamedTuple):
    """What a list of memories shows; the archive has no filters."""

    q: Annotated[str, Query(max_length=LONGEST_QUESTION)] = ""
    speaker: _Text = ""
    channel: _Text = ""
    session: _Text = ""
    entry_type: EntryType | Literal[""] = ""
    tag: _Text = ""
    since: _Day = ""
    until: _Day = ""
    status: Literal["active", "archived"] = "active"

    @property
    def parameters(self) -> dict[str, str]:
        """The filter as parameters of an address."""
        return {name: str(value) for name, value in self._asdict().items()} | {
            "status": "" if self.status == "active" else self.status
        }

    @property
    def words(self) -> str:
        """What is searched for; empty for a plain list."""
        return self.q.strip()

    @property
    def fields(self) -> dict[str, Any]:
        """The filter as a query of entries and a search take it."""
        return {
            "entry_types": (self.entry_type,) if self.entry_type else (),
            "tags": (self.tag,) if self.tag.strip() else (),
            "speaker": self.speaker.strip() or None,
            "channel": self.channel.strip() or None,
            "session_id": self.session.strip() or None,
            "since": _moment(self.since),
            "until": _moment(self.until),
        }


class Listed(NamedTuple):
    """A memory in a list, and how well it answers what is searched for."""

    entry: Entry
    score: float | None = None


Shown = Annotated[Filter, Depends(Filter)]


@router.get(MEMORIES)
async def list_memories(
    request: Request,
    call: ReadCall,
    shown: Shown,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists memories, the newest first, or the best first of what is searched for."""
    listed, next_cursor = await _read(call.memory, shown, limit=_LIMIT, cursor=cursor)
    next_cursor = None if shown.words else next_cursor
    return render(
        request,
        "memories.html",
        listed=listed,
        shown=shown,
        cursor=cursor,
        next_cursor=next_cursor,
        entry_types=ENTRY_TYPES,
    )


@router.post(MEMORIES)
async def preview(
    request: Request,
    call: WriteCall,
    shown: Shown,
    action: Annotated[Action, Form()],
    entry: EntryIds = [],  # noqa: B006 - FastAPI reads it
    every: Annotated[bool, Form(description="All that match the filter")] = False,
) -> Response:
    """Lists the memories that an action would touch."""
    more = None
    if every:
        listed, more = await _read(call.memory, shown, limit=MOST_AT_ONCE)
        chosen = [one.entry for one in listed]
        failed: list[tuple[str, str]] = []
    else:
        found: dict[str, Entry] = {}

        async def find(entry_id: str) -> None:
            found[entry_id] = await call.memory.entries.get(entry_id)

        failed = await for_each(entry, find)
        chosen = [found[one] for one in entry if one in found]
    return render(
        request,
        "memories_preview.html",
        action=action,
        chosen=chosen,
        failed=failed,
        is_cut=more is not None,
        shown=shown,
    )


@router.post(f"{MEMORIES}/apply")
async def apply(
    request: Request,
    call: WriteCall,
    shown: Shown,
    action: Annotated[Action, Form()],
    entry: EntryIds,
    facts: Annotated[bool, Form()] = False,
) -> Response:
    """Does to the memories what was confirmed, and says of each that could not be why."""
    act = _act_of(call.memory.entries, action, facts=facts)
    failed = await for_each(entry, act)
    return render(
        request,
        "memories_changed.html",
        action=action,
        done_count=len(entry) - len(failed),
        failed=failed,
        shown=shown,
    )


@router.get(f"{MEMORIES}/{{key}}")
async def show_memory(request: Request, key: str, call: ReadCall) -> Response:
    """A memory, where it comes from, what was learned from it, and what became of it."""
    found = await call.memory.entries.provenance(key)
    return render(request, "memory.html", found=found, entry_types=ENTRY_TYPES)


@router.post(f"{MEMORIES}/{{key}}")
async def change_memory(
    key: str,
    call: WriteCall,
    content: Annotated[str, Form()],
    entry_type: Annotated[EntryType, Form()],
    about: Annotated[str, Form(max_length=10_000)] = "",
    tags: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    """Changes a memory."""
    before = await call.memory.entries.get(key)
    changes: EntryChanges = {
        "entry_type": entry_type,
        "subjects": _names(about),
        "tags": _names(tags),
    }
    text = content.replace("\r\n", "\n")  # as a browser sends line breaks
    if text != before.content:
        changes["content"] = text
    await call.memory.entries.change(key, **changes)
    return back_to(_path(key), done="memory_changed", agent_id=call.agent_id)


@router.post(f"{MEMORIES}/{{key}}/{{action}}")
async def act_on_memory(
    key: str,
    action: Literal[Action, "reinstate"],
    call: WriteCall,
    facts: Annotated[bool, Form()] = False,
) -> Response:
    """Pins, archives, restores, reinstates or deletes a memory."""
    if action == "reinstate":
        await call.memory.entries.reinstate(key)
    else:
        await _act_of(call.memory.entries, action, facts=facts)(key)
    to = MEMORIES if action == "delete" else _path(key)
    return back_to(to, done=_DONE[action], agent_id=call.agent_id)


def _act_of(
    entries: EntryClient, action: Action, *, facts: bool
) -> Callable[[str], Awaitable[Any]]:
    acts: Mapping[Action, Callable[[str], Awaitable[Any]]] = {
        "pin": lambda key: entries.change(key, critical=True),
        "unpin": lambda key: entries.change(key, critical=False),
        "archive": entries.archive,
        "restore": entries.restore,
        "delete": lambda key: entries.delete(key, facts=facts),
    }
    return acts[action]


async def _read(
    memory: MemoryClient, shown: Filter, *, limit: int, cursor: str | None = None
) -> tuple[Sequence[Listed], str | None]:
    """A page of what a filter shows, and the cursor of the next; a search has one page, and may have found more."""
    if shown.status == "archived":
        archived, next_cursor = await memory.entries.list_archived(limit=limit, cursor=cursor)
        return [Listed(one.entry) for one in archived], next_cursor
    if shown.words:
        found = await memory.retrieve(
            shown.words, limit=limit, min_score=0, repeats=True, is_access=False, **shown.fields
        )
        is_full = len(found.results) == limit
        return [Listed(one.entry, one.score) for one in found.results], _MORE if is_full else None
    try:
        query = EntryQuery(**shown.fields)
    except ValidationError as error:
        raise refused("filter", error, model=EntryQuery) from None
    entries, next_cursor = await memory.entries.list(query, limit=limit, cursor=cursor)
    return [Listed(entry) for entry in entries], next_cursor


def _names(text: str) -> tuple[str, ...]:
    """The names in a field, one a line."""
    return tuple(filter(None, map(str.strip, text.splitlines())))


def _moment(day: date | Literal[""]) -> datetime | None:
    return None if day == "" else datetime.combine(day, time(), UTC)


def _path(key: str) -> str:
    return f"{MEMORIES}/{quote(key, safe='')}"
