"""Auto-retrieval: the memories, notes and latest messages that are put before a message.

Clients and jobs show the results by one rule: as one text, quoted as data, with the time in words, within a budget.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import Entry, EntryKind, EntryType
from mnestic.memory.knowledge.prompt_facts import quote_memory
from mnestic.memory.language.sentences import cut_around
from mnestic.memory.language.small_talk import is_small_talk
from mnestic.memory.language.time_words import time_in_words
from mnestic.memory.packing import DroppedItem, PromptItem, Tier, key_of, pack
from mnestic.memory.quotations import quoted, quoted_block
from mnestic.memory.retrieval.notes import Note
from mnestic.memory.retrieval.queries import RetrievedEntry, StatedClaim
from mnestic.memory.retrieval.retrieval_log import (
    LoggedMemory,
    LoggedNote,
    RetrievalLogEntry,
    Skipped,
    preview_of,
)

MESSAGES = 20  # of the channel
_SHARE_OF_MESSAGES = 0.5  # of the budget, if memories and notes need the rest
LONGEST_MEMORY = 1000  # characters of one in a prompt
_NO_LIMIT = 1 << 62
_ELLIPSIS = "…"
_MARKS = " .,;:"  # around words that are left out
_CUT = f"{_ELLIPSIS} "  # marks where a text is cut


class ChannelMessage(DeferredModel):
    """A message of the channel."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    entry_id: str
    speaker: str | None
    content: str
    at: AwareDatetime


class RetrievedMemory(DeferredModel):
    """A memory that is put before a message: what is so of its content, of a long one the part that matches, and the time in words."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    entry_id: str
    kind: EntryKind = "message"
    entry_type: EntryType
    content: str
    speaker: str | None = None
    channel: str | None = None
    session_id: str | None = None
    score: float
    timestamp: AwareDatetime
    when: str
    archived: bool = False

    @classmethod
    def of(cls, found: RetrievedEntry, *, now: datetime) -> "RetrievedMemory":
        """A memory that was found."""
        entry = found.entry
        return cls(
            entry_id=entry.id,
            kind=entry.kind,
            entry_type=entry.entry_type,
            content=excerpt(found),
            speaker=entry.speaker,
            channel=entry.channel,
            session_id=entry.session_id,
            score=found.score,
            timestamp=entry.at,
            when=time_in_words(entry.at, now=now),
            archived=found.archived,
        )


class AutoRetrievalHits(DeferredModel):
    """The memories and notes for a message before the budget applies, and the sources that were skipped."""

    model_config = ConfigDict(frozen=True)

    memories: tuple[RetrievedMemory, ...] = ()
    notes: tuple[Note, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    messages: tuple[ChannelMessage, ...] = ()


class AutoRetrieval(AutoRetrievalHits):
    """What is put before a message.

    `text` is for the prompt, empty if there is nothing to tell, and `tokens` are its tokens. `messages` are the channel's
    last ones, the oldest first. `dropped` was found and is not told, and why.
    """

    text: str = ""
    tokens: int = 0
    dropped: tuple[DroppedItem, ...] = ()

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """The entries in the block."""
        return tuple(memory.entry_id for memory in self.memories)

    def as_variable(self) -> dict[str, Any]:
        """What a variable holds: each part by itself, and the block of data that a prompt may be given."""
        memories = [
            memory.model_dump(
                mode="json", include={"content", "speaker", "channel", "score", "when"}
            )
            | {"at": memory.timestamp.isoformat()}
            for memory in self.memories
        ]
        notes = [note.model_dump(mode="json") for note in self.notes]
        return {"memories": memories, "notes": notes, "quoted": self.text}

    def log_entry(self, message: str, *, channel: str) -> RetrievalLogEntry | None:
        """Its entry in the retrieval log; None if nothing was found and nothing skipped."""
        if not (self.memories or self.notes or self.skipped):
            return None
        return RetrievalLogEntry(
            channel=channel,
            preview=preview_of(message),
            memories=tuple(LoggedMemory(id=m.entry_id, score=m.score) for m in self.memories),
            notes=tuple(LoggedNote(path=note.path) for note in self.notes),
            skipped=self.skipped,
            tokens=self.tokens,
        )


def assemble(
    found: AutoRetrievalHits,
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int | None = None,
    latest: Sequence[ChannelMessage] = (),
) -> AutoRetrieval:
    """Assembles one text within a budget: the best memories first, then notes, then the latest messages.

    Args:
        found: What was found.
        count_tokens: Counts exactly.
        max_tokens: The limit of the text; without it, everything is in it.
        latest: The latest messages, the oldest first. Half of the budget is theirs, and what the others leave; a memory
            that is among them is told there.
    """
    said = message_items(latest)
    of_messages = {piece.line for piece in said}
    words = {piece.name: piece.words for piece in said}

    def render(lines: Sequence[str]) -> str:
        recalled = [line for line in lines if line not in of_messages]
        messages = [line for line in reversed(lines) if line in of_messages]
        blocks = [quoted_block("memories", recalled)] if recalled or not messages else []
        return "\n".join([*blocks, *([quoted_block("conversation", messages)] if messages else [])])

    memories = {memory.entry_id: memory for memory in found.memories}
    notes = {note.path: note for note in found.notes}
    packed = pack(
        (
            Tier(name="messages", pieces=said, share=_SHARE_OF_MESSAGES),
            Tier(
                name="memories",
                pieces=tuple(
                    memory_item(one, words=words.get(one.entry_id)) for one in found.memories
                ),
            ),
            Tier(name="notes", pieces=tuple(map(note_item, found.notes))),
        ),
        max_tokens=_NO_LIMIT if max_tokens is None else max_tokens,
        count_tokens=count_tokens,
        render=render,
    )
    included = {piece.name for piece in packed.included}
    return AutoRetrieval(
        memories=tuple(memory for name, memory in memories.items() if name in included),
        notes=tuple(note for name, note in notes.items() if name in included),
        skipped=found.skipped,
        messages=found.messages,
        text=packed.text,
        tokens=packed.tokens,
        dropped=tuple(one for one in packed.dropped if one.name not in included),
    )


def message_items(messages: Sequence[ChannelMessage]) -> tuple[PromptItem, ...]:
    """Messages as items of a prompt, the latest first; what is said again is told once, unless it is small talk such as *yes*."""
    said = set[str]()
    items = []
    for message in reversed(messages):
        content = cut_around(message.content, "", LONGEST_MEMORY)
        fields = {"message": content, "by": message.speaker, "at": f"{message.at:%Y-%m-%d %H:%M}"}
        line = quoted({name: value for name, value in fields.items() if value is not None})
        words = message.entry_id if key_of(content) in said and is_small_talk(content) else content
        items.append(PromptItem(kind="message", name=message.entry_id, line=line, words=words))
        said.add(key_of(content))
    return tuple(items)


def latest_before(
    messages: Sequence[ChannelMessage], message: str, *, limit: int
) -> tuple[ChannelMessage, ...]:
    """The last messages before one that may be stored already."""
    is_stored = bool(messages) and _folded(messages[-1].content) == _folded(message)
    return tuple(messages[: -1 if is_stored else None][-limit:] if limit else ())


def memory_item(memory: RetrievedMemory, *, words: str | None = None) -> PromptItem:
    """A memory as an item of a prompt; `words` are those of the message that it is, if that is told too."""
    line = quote_memory(
        memory.content,
        by=memory.speaker,
        channel=memory.channel,
        at=memory.timestamp,
        when=memory.when,
        archived=memory.archived,
    )
    return PromptItem(
        kind="memory",
        name=memory.entry_id,
        line=line,
        words=words or memory.content,
        score=memory.score,
    )


def note_item(note: Note) -> PromptItem:
    """A note as an item of a prompt."""
    line = quoted({"note": note.path, "text": note.content})
    return PromptItem(kind="note", name=note.path, line=line, words=f"{note.path} {note.content}")


def excerpt(found: RetrievedEntry) -> str:
    """What a prompt quotes of an entry: of a long one the sentences around the passage, without what holds no longer.

    Words of which one claim holds are quoted, with a note of what holds no longer; so is all if nothing else is left.
    """
    content = found.entry.content
    text = cut_around(content, found.passage, LONGEST_MEMORY)
    if not found.claims:
        return text
    body = text.lstrip(_CUT)
    shift = content.find(body.rstrip(_CUT)) - (len(text) - len(body))
    quoted = _without_ended(text, found.claims, shift=shift)
    return quoted if any(map(str.isalnum, quoted)) else text + _note(found.claims)


def _without_ended(text: str, claims: Sequence[StatedClaim], *, shift: int) -> str:
    """The text with an ellipsis for the words of claims that hold no longer, and a note behind those that say more.

    It begins at `shift` in the entry.
    """
    parts, place = [], 0
    for one in sorted(claims, key=attrgetter("start")):
        start, end = max(place, one.start - shift), min(len(text), one.end - shift)
        if one.holds or start >= end:
            continue
        if any(other.holds and other.start < one.end and one.start < other.end for other in claims):
            parts.append(text[place:end] + _note([one]))
        else:
            parts += [text[place:start].strip(_MARKS), _ELLIPSIS]
        place = end
    rest = text[place:].lstrip(_MARKS) if parts else text
    return " ".join(filter(None, [*parts, rest]))


def _note(claims: Sequence[StatedClaim]) -> str:
    ended = [f"{one.predicate.replace('_', ' ')} {one.object}" for one in claims if not one.holds]
    return f" (no longer so: {', '.join(ended)})" if ended else ""


def excluding(
    entries: Sequence[RetrievedEntry], texts: Sequence[str]
) -> tuple[RetrievedEntry, ...]:
    """The entries without those that repeat a text of the prompt."""
    known = {_folded(text) for text in texts}
    return tuple(one for one in entries if _folded(one.entry.content) not in known)


def first_distinct(memories: Sequence[RetrievedMemory], limit: int) -> tuple[RetrievedMemory, ...]:
    """The first memories with so many distinct texts, and the repetitions among them.

    A repetition takes no place: the block leaves it out, and `dropped` names it.
    """
    distinct: set[str] = set()
    first: list[RetrievedMemory] = []
    for memory in memories:
        key = key_of(memory.content)
        if key not in distinct and len(distinct) == limit:
            break
        distinct.add(key)
        first.append(memory)
    return tuple(first)


def count_distinct(memories: Sequence[RetrievedMemory]) -> int:
    """How many distinct texts memories have."""
    return len({key_of(memory.content) for memory in memories})


def matching_messages(messages: Sequence[ChannelMessage], texts: Sequence[str]) -> frozenset[str]:
    """The ids of the last messages that are the query itself.

    They are excluded from the search, since nothing is as similar to a query as the query.
    """
    known = {_folded(text) for text in texts}
    return frozenset(one.entry_id for one in messages if _folded(one.content) in known)


def message_of(entry: Entry) -> ChannelMessage:
    """An entry as a message of its channel."""
    return ChannelMessage(
        entry_id=entry.id, speaker=entry.speaker, content=entry.content, at=entry.at
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
