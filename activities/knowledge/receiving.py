"""Receiving what is to be learned from: messages, and entries that somebody adds.

Every way in comes through it, the client's, a job's and an inbox's: what is kept is an entry at once, whatever is
learned from it later. Blocks of memories that a program stores with a message, as it has put them before it in a
prompt, are left out here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.claims import Claim, make_id, name_key
from mnestic.memory.knowledge.enrichment import entry_of, entry_of_draft, with_importance
from mnestic.memory.knowledge.entries import Entry, EntryDraft
from mnestic.memory.knowledge.ingestion import IncomingMessage, entry_id_of
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.resources import Resource, check_message
from mnestic.memory.long_texts import work_on
from mnestic.memory.ports import Transaction
from mnestic.memory.quotations import without_blocks


async def receive(
    transaction: Transaction,
    messages: Sequence[Resource | IncomingMessage],
    *,
    owner: str,
) -> int:
    """Keeps messages with their entries; returns how many were new.

    Blocks of memories are cut out of them, and what was forgotten and is kept out; one of which nothing is left is passed
    over.

    One that was received before changes nothing, whatever has become of its entry.

    Args:
        transaction: Both are written in it, and that they are to be learned from.
        messages: In any order.
        owner: Tenant and agent, for the ids of entries.

    Raises:
        InvalidInputError: a message cannot be stored; names it.
    """
    incoming = [
        one if isinstance(one, IncomingMessage) else IncomingMessage(resource=one)
        for one in messages
    ]
    for message in incoming:
        check_message(message.resource)
    incoming = await cut_messages(transaction, await _with_inherited(transaction, incoming))
    # In one order for everybody, so that nobody waits for somebody who waits.
    ordered = sorted(incoming, key=_in_order)
    messages, basis = await transaction.ingest_states.receive(ordered)
    if basis is not None:
        first = {message.place: message for message in reversed(ordered)}
        stored = [first[one.place].as_stored(one) for one in messages]
        of_same = {message.place: message.resource.readers for message in stored}
        above = [message.place_above for message in stored]
        children = Counter(
            place
            for place, message in zip(above, stored, strict=True)
            if place is not None and of_same.get(place) == message.resource.readers
        )
        entries = await work_on(
            (message.resource.content for message in stored),
            lambda: [
                entry_of(message, owner=owner, children=children[message.place], basis=basis)
                for message in stored
            ],
        )
        await transaction.entries.add(entries)
    return len(messages)


async def cut_messages(
    transaction: Transaction, incoming: Sequence[IncomingMessage]
) -> list[IncomingMessage]:
    """Messages without blocks of memories and what is kept out, and without those of which nothing is left."""
    return await _cut_excluded(transaction, _cut_blocks(transaction, incoming))


async def _with_inherited(
    transaction: Transaction, incoming: Sequence[IncomingMessage]
) -> list[IncomingMessage]:
    """Messages, of which what a tool returned has the readers of the message that it came with, unless it has its own."""
    above = {
        one.place_above
        for one in incoming
        if one.place_above is not None and one.resource.readers is None
    }
    has_readers = any(one.resource.readers is not None for one in incoming)
    if not above or not (has_readers or await transaction.reader_defaults.are_used()):
        return list(incoming)
    ordered = sorted(incoming, key=_in_order)
    given = {one.place: one for one in reversed(ordered)}  # the first of a place is kept
    stored = await transaction.resources.select_readers(above)
    left: list[IncomingMessage] = []
    for message in incoming:
        if message.place_above is None or message.resource.readers is not None:
            left.append(message)
        else:
            readers = await _inherited(transaction, message.place_above, given, stored=stored)
            left.append(_with(message, readers=readers))
    return left


async def _inherited(
    transaction: Transaction,
    place: Place,
    given: Mapping[Place, IncomingMessage],
    *,
    stored: Mapping[Place, Sequence[str] | None],
) -> Sequence[str] | None:
    """The readers of the message at a place, which may be a result of a tool itself.

    While it is unknown, the agent alone may read what came with it.
    """
    passed: set[Place] = set()
    while place not in stored:
        message = given.get(place)
        if message is None or place in passed:
            return ()
        resource = message.resource
        if resource.readers is not None:
            return resource.readers
        if message.place_above is None:
            return await transaction.reader_defaults.find(resource.session_id, resource.channel)
        passed.add(place)
        place = message.place_above
    return stored[place]


def _in_order(message: IncomingMessage) -> tuple[datetime, Place]:
    return message.resource.at, message.place


def _cut_blocks(
    transaction: Transaction, incoming: Sequence[IncomingMessage]
) -> list[IncomingMessage]:
    """Messages without the blocks that prompts were given, and without those that are nothing else."""
    left: list[IncomingMessage] = []
    cut = 0
    for message in incoming:
        content = without_blocks(message.resource.content)
        if content == message.resource.content:
            left.append(message)
            continue
        cut += 1
        if not is_blank(content):
            left.append(_with(message, content=content))
    if cut:
        transaction.note("message.cut_block", f"{cut} messages")
    return left


async def _cut_excluded(
    transaction: Transaction, incoming: Sequence[IncomingMessage]
) -> list[IncomingMessage]:
    """Messages without the clauses and channels that are kept out, and without those of which nothing is left."""
    resources = [message.resource for message in incoming]
    texts = [
        (one.resource.content, one.resource.speaker, *one.subjects, *one.tags) for one in incoming
    ]
    contents = await transaction.suppression_list.left_of(texts)
    channels = await transaction.suppression_list.left_of([(one.channel,) for one in resources])
    left: list[IncomingMessage] = []
    cut = 0
    for message, content, channel in zip(incoming, contents, channels, strict=True):
        changed = {"content": content, "channel": channel}
        if changed == message.resource.model_dump(include={*changed}):
            left.append(message)
            continue
        cut += 1
        if content:
            left.append(_with(message, **changed))
    if cut:
        transaction.note("message.keep_out", f"{cut} messages")
    return left


def _with(message: IncomingMessage, **changed: Any) -> IncomingMessage:
    """A message with other words or readers."""
    return message.model_copy(update={"resource": message.resource.model_copy(update=changed)})


async def remove_excluded(transaction: Transaction, claims: Sequence[Claim]) -> list[Claim]:
    """Claims without those that speak of what was forgotten and is kept out."""
    texts = [(claim.subject, claim.predicate, claim.object or "") for claim in claims]
    are_out = await transaction.suppression_list.are_kept_out(texts)
    return [claim for claim, is_out in zip(claims, are_out, strict=True) if not is_out]


async def add_entry(
    transaction: Transaction, draft: EntryDraft, *, owner: str, speaker: str
) -> Entry:
    """Keeps an entry that somebody adds, without blocks of memories; returns it as it is stored.

    The same draft once more changes nothing; with a `source_id`, not even if its entry is archived. After its entry, or a part
    of it, was removed it is a new message, said now, and learned from as such: also facts that were deleted before are
    believed again, as new ones. With a `source_id` it is the removed message that is sent again, and is refused; so is
    another text.

    Args:
        transaction: All is written in it.
        draft: The entry.
        owner: Tenant and agent, for the entry's id.
        speaker: Who says so if the draft does not tell.

    Raises:
        NotFoundError: there is no such parent.
        KeptOutError: it speaks of what was forgotten and is kept out.
        InvalidInputError: it is nothing but a block of memories, or the draft's message was removed or has another text.
    """
    draft = draft.model_copy(update={"content": without_blocks(draft.content)})
    if is_blank(draft.content):
        raise InvalidInputError(what="entry", why="has no content but a block of memories")
    said = (draft.content, draft.speaker or "", *draft.subjects, *draft.tags, *draft.aliases)
    transaction.suppression_list.load_ahead()
    above = [draft.parent] if draft.parent else []
    # Locked before the words of the new one.
    if above and not await transaction.entries.select(above, lock=True):
        raise NotFoundError(what="entry", name=above[0])
    source_id = draft.source_id or _content_id(draft)
    while True:
        message = _incoming(draft, source_id=source_id, speaker=speaker)
        begun = await transaction.ingest_states.receive([message])
        await transaction.suppression_list.check(*said, what="entry")
        entry_id = entry_id_of(message.resource, owner=owner)
        if begun.basis is not None:
            (kept,) = begun.messages
            if kept.resource.content != draft.content:
                raise _sent_before(message, "was kept with another text; send that one")
            describe = partial(entry_of_draft, kept, draft, owner=owner, basis=begun.basis)
            drafted = await work_on([draft.content], describe)
            (entry,) = await transaction.entries.add([drafted])
            await recompute_importance(transaction, above)
            return entry
        stored = await _find_entry(transaction, entry_id, archived=draft.source_id is not None)
        if stored is not None and not await _has_lost(transaction, message):
            return stored
        if draft.source_id is not None:
            raise _sent_before(
                message, "has another text; change its entry" if stored else "was removed"
            )
        source_id = make_id("again", source_id)


def _incoming(draft: EntryDraft, *, source_id: str, speaker: str) -> IncomingMessage:
    """The message that an entry is kept as.

    Raises:
        InvalidInputError: it cannot be stored.
    """
    resource = Resource(
        session_id=draft.session_id,
        source_id=source_id,
        channel=draft.channel,
        speaker=draft.speaker or speaker,
        content=draft.content,
        at=draft.at or datetime.now(UTC),
        readers=draft.readers,
    )
    check_message(resource)
    return IncomingMessage(resource=resource, entry_type=draft.entry_type, is_now=draft.at is None)


async def _find_entry(transaction: Transaction, entry_id: str, *, archived: bool) -> Entry | None:
    stored = await transaction.entries.select([entry_id])
    if not stored and archived:
        stored = await transaction.archive.select([entry_id])
    return stored.get(entry_id)


def _sent_before(message: IncomingMessage, why: str) -> InvalidInputError:
    why = f"{why}, or add it without a source id"
    return InvalidInputError(what=f"message {message.name}", why=why)


async def _has_lost(transaction: Transaction, message: IncomingMessage) -> bool:
    """Whether a message says something else than when it was received: a part of it was forgotten."""
    stored = await transaction.ingest_states.find(*message.place)
    return stored is not None and stored.resource.content != message.resource.content


async def recompute_importance(transaction: Transaction, parent_ids: Collection[str]) -> None:
    """Gives entries, if they are there, the importance that they have with the children of now."""
    if not parent_ids:
        return
    parents = await transaction.entries.select(sorted(parent_ids), lock=True)
    basis = await transaction.settings.importance_basis()
    children = await transaction.entries.count_children(parents)
    await transaction.entries.change(
        [with_importance(one, children=children[one.id], basis=basis) for one in parents.values()]
    )


def _content_id(draft: EntryDraft) -> str:
    about = sorted(name_key(subject) for subject in draft.subjects)
    by = [f"by {name_key(draft.speaker)}"] if draft.speaker else []
    readers = [f"for {reader}" for reader in draft.readers or ()]
    return make_id("added", draft.entry_type, draft.content, *by, *about, *readers)
