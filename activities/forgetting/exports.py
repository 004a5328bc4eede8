"""Writing an export: an agent's whole memory as it was at one moment, line by line.

It holds one page of rows at a time, however much there is.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from mnestic.activities.callers import Caller
from mnestic.memory.forgetting.export_lines import (
    DocumentLine,
    EndLine,
    ExportLine,
    HeaderLine,
    MessageLine,
    PredicateLine,
    ReadersLine,
    RecordLine,
    SettingsLine,
    exported_entry,
)
from mnestic.memory.knowledge.entries import ArchiveMark
from mnestic.memory.knowledge.ingestion import entry_id_at
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.ports import Transaction

_PAGE = 100  # rows; a message has up to 1 MiB
_DOCUMENTS = 10  # sessions and documents, which may be long
Row = TypeVar("Row")


async def export_lines(caller: Caller) -> AsyncGenerator[ExportLine, None]:
    """The lines of an agent's export, as its memory is when the first is taken.

    The audit log has it before the first line is given away. A connection is taken until the last.
    """
    async with caller() as transaction:
        transaction.exports.note()
    async with caller.memory.transaction(
        tenant_id=caller.tenant_id,
        agent_id=caller.agent_id,
        actor=caller.actor,
        write=False,
        consistent=True,
        reader=caller.reader,
    ) as transaction:
        lines = 0
        async for line in _lines(transaction, caller):
            lines += 1
            yield line
        yield EndLine(lines=lines)


async def _lines(transaction: Transaction, caller: Caller) -> AsyncIterator[ExportLine]:
    """All but the last; what others depend on comes first."""
    now = await transaction.now()
    yield HeaderLine(tenant_id=caller.tenant_id, agent_id=caller.agent_id, at=now)
    for rule in await _rules(transaction):
        yield rule
    async for line in _messages(transaction, owner=caller.owner):
        yield line
    exports = transaction.exports
    for list_page, limit in (
        *((one, _PAGE) for one in (exports.list_claims, exports.list_nodes, exports.list_edges)),
        (exports.list_sessions, _DOCUMENTS),
    ):
        async for part in _rows(list_page, limit=limit):
            yield part
    async for record in _rows(partial(transaction.records.list_by_namespace, whole=True), None):
        yield RecordLine(**record.model_dump())
    async for document in _rows(transaction.documents.list_documents, limit=_DOCUMENTS):
        yield DocumentLine(**document.model_dump())
    async for episode in _rows(exports.list_episodes, limit=_PAGE):
        yield episode


async def _rules(transaction: Transaction) -> list[ExportLine]:
    """What is set for the agent, and for predicates of the tenant."""
    values = await transaction.settings.read()
    settings = [SettingsLine(values=dict(sorted(values.items())))] if values else []
    own = await transaction.facts.list_predicates()
    differ = [one for one in own if one != default_predicate(one.name)]
    readers = [
        ReadersLine(default=one) for one in await transaction.reader_defaults.list_defaults()
    ]
    return [*settings, *(PredicateLine(predicate=one) for one in differ), *readers]


async def _messages(transaction: Transaction, *, owner: str) -> AsyncIterator[ExportLine]:
    """Messages, each with its entry."""
    async for page in _pages(transaction.exports.list_messages, limit=_PAGE):
        ids = {line.place: entry_id_at(line.place, owner=owner) for line in page}
        entries = await transaction.entries.select(sorted(ids.values()))
        marks = await transaction.archive.select_marks(ids.values())
        entries |= await transaction.archive.select(marks)
        named = {name for entry in entries.values() for name in (*entry.related, entry.parent)}
        named |= {name for entry in entries.values() for name, _ in entry.replaces}
        places = await transaction.exports.select_places({name for name in named if name})
        for line in page:
            entry = entries.get(ids[line.place])
            if isinstance(line, MessageLine) and entry is not None:
                exported = exported_entry(entry, line.message, places=places)
                yield line.model_copy(
                    update={"entry": exported, "archived": _exported_mark(marks.get(entry.id))}
                )
            else:
                yield line


def _exported_mark(mark: ArchiveMark | None) -> ArchiveMark | None:
    """None for a compressed entry, since an import knows no entry that stands for it: it comes back as it was before."""
    return None if mark is not None and mark.reason == "compressed" else mark


async def _rows(
    list_page: Callable[..., Awaitable[tuple[tuple[Row, ...], str | None]]],
    *query: Any,
    limit: int = _PAGE,
) -> AsyncIterator[Row]:
    async for page in _pages(list_page, *query, limit=limit):
        for row in page:
            yield row


async def _pages(
    list_page: Callable[..., Awaitable[tuple[tuple[Row, ...], str | None]]],
    *query: Any,
    limit: int,
) -> AsyncIterator[tuple[Row, ...]]:
    cursor = None
    while True:
        page, cursor = await list_page(*query, limit=limit, cursor=cursor)
        yield page
        if cursor is None:
            return
