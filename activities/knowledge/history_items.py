"""Conversation histories: the items of a session as a framework stores them, in order, and what is learned from them.

A batch of items is one record, so that it is stored whole or not at all, and its number is its place. Whoever finds the number
taken tries the next one.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.knowledge.removal import take_back
from mnestic.memory.canonical import check_json
from mnestic.memory.errors import StaleVersionError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.histories import ItemText
from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.ingestion import entry_id_of
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import HISTORIES
from mnestic.memory.ports import Transaction

_PAGE = 1000  # records
Result = TypeVar("Result")


async def until_current(attempt: Callable[[], Awaitable[Result]]) -> Result:
    """Attempts a transaction again while somebody else changes the history first."""
    while True:
        try:
            return await attempt()
        except StaleVersionError:
            continue


async def append_items(
    transaction: Transaction,
    session_id: str,
    items: Sequence[dict[str, Any]],
    *,
    texts: Sequence[ItemText] = (),
    batch_id: str,
    owner: str,
) -> None:
    """Appends items to the history of a session; what they say is kept as messages.

    Items and messages lose what was forgotten and is kept out.

    Args:
        transaction: All is written in it.
        session_id: The session.
        items: JSON objects.
        texts: What is said in them.
        batch_id: Names the messages, with the positions of their items.
        owner: Tenant and agent, for the ids of entries.

    Raises:
        InvalidInputError: an item is no JSON, or what is said cannot be stored.
        StaleVersionError: somebody has appended items meanwhile.
    """
    if not items:
        return
    check_json(list(items), what="items")
    newest = await _page(transaction, session_id, limit=1)
    number = int(newest[0][0].key) + 1 if newest[0] else 1
    said = texts_of(list(items))
    left = dict(
        zip(
            said,
            await transaction.suppression_list.left_of([(text,) for text in said]),
            strict=True,
        )
    )
    await transaction.records.set(
        _namespace(session_id),
        f"{number:010}",
        {"id": batch_id, "items": _with_texts(items, left)},
        expected_version=0,
    )
    now = await transaction.now()
    messages = [
        Resource(
            session_id=session_id,
            source_id=_source_id(batch_id, text.item),
            channel=text.channel,
            speaker=text.speaker,
            content=text.content,
            at=now,
        )
        for text in texts
    ]
    await receive(transaction, messages, owner=owner)


async def read_items(
    transaction: Transaction, session_id: str, *, limit: int | None = None
) -> tuple[dict[str, Any], ...]:
    """The last items of a session in their order, or all of them."""
    found: list[dict[str, Any]] = []  # the newest first
    cursor: str | None = None
    while limit is None or len(found) < limit:
        records, cursor = await _page(transaction, session_id, limit=limit, cursor=cursor)
        found += [item for record in records for item in reversed(_items(record))]
        if cursor is None:
            break
    return tuple(reversed(found if limit is None else found[: max(limit, 0)]))


async def pop_item(
    transaction: Transaction, session_id: str, *, owner: str
) -> dict[str, Any] | None:
    """Removes the last item of a session and gives it, or None.

    Its message goes too, and what was learned from that alone.

    Raises:
        StaleVersionError: somebody has changed the history meanwhile.
    """
    cursor: str | None = None
    while True:
        records, cursor = await _page(transaction, session_id, limit=1, cursor=cursor)
        if not records:
            return None
        (record,) = records
        if items := _items(record):
            break
        if cursor is None:
            return None
    *left, item = items
    where = (record.namespace, record.key)
    if left:
        value = record.value | {"items": left}
        await transaction.records.set(*where, value, expected_version=record.version)
    else:
        await transaction.records.delete(*where, expected_version=record.version)
    place = (session_id, _source_id(record.value["id"], len(left)))
    entry = await _find_entry(transaction, place, owner=owner)
    if entry is not None:
        await take_back(transaction, entry, facts=True)
    return item


async def clear_items(transaction: Transaction, session_id: str) -> None:
    """Removes all items of a session; what was learned from them stays.

    Raises:
        StaleVersionError: somebody has changed the history meanwhile.
    """
    cursor: str | None = None
    while True:
        records, cursor = await _page(transaction, session_id, cursor=cursor)
        for record in records:
            await transaction.records.delete(
                record.namespace, record.key, expected_version=record.version
            )
        if cursor is None:
            return


async def _page(
    transaction: Transaction,
    session_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> tuple[tuple[LongTermRecord, ...], str | None]:
    """Batches of a session, the newest first, and the cursor of the next page."""
    size = min(_PAGE if limit is None else max(limit, 1), _PAGE)
    wanted = QueryFilter(descending=True, limit=size, cursor=cursor)
    return await transaction.records.query(_namespace(session_id), wanted)


async def _find_entry(transaction: Transaction, place: Place, *, owner: str) -> Entry | None:
    """The entry of what is said in an item, live or archived."""
    found = await transaction.ingest_states.find(*place)
    if found is None:
        return None
    entry_id = entry_id_of(found.resource, owner=owner)
    live = await transaction.entries.select([entry_id])
    return (live or await transaction.archive.select([entry_id])).get(entry_id)


def _namespace(session_id: str) -> str:
    return f"{HISTORIES}{session_id}"


def _source_id(batch_id: str, item: int) -> str:
    return f"{batch_id}/{item}"


def _items(record: LongTermRecord) -> list[dict[str, Any]]:
    """The items of a batch; what is none, such as what a restore by hand has left, is passed over."""
    value = record.value if isinstance(record.value, dict) else {}
    items = value.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _with_texts(value: Any, texts: dict[str, str]) -> Any:
    """JSON with other texts."""
    if isinstance(value, str):
        return texts[value]
    if isinstance(value, dict):
        return {name: _with_texts(item, texts) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item, texts) for item in value]
    return value
