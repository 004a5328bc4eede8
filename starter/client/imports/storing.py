"""Stores the items of another program's export in an agent's memory, in bounded batches.

Every format is checked, stored, continued and counted in the same way.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence

from mnestic.memory.errors import InvalidInputError, StaleVersionError
from mnestic.starter.client.ingestion import store_batch
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.importers.programs.items import (
    ImportedMessage,
    ImportedRecord,
    LeftOut,
    ProgramExport,
    Unstorable,
    without_conflicts,
)
from mnestic.starter.importers.programs.report import ImportReport

_BATCH = 500  # messages in memory and in one transaction at most
_BATCH_CHARACTERS = 4_000_000


def check_export(export: ProgramExport, *, source: str) -> int:
    """Reads an export to its end, so that a fault is found before anything is stored; returns how many items it has.

    Raises:
        InvalidInputError: the file cannot be read to its end, or has nothing that can be stored.
    """
    kinds = Counter(type(item) for item in export.items())
    if not (kinds[ImportedMessage] or kinds[ImportedRecord]):
        why = f"has nothing that can be stored among {kinds.total()} items of {export.format}"
        raise InvalidInputError(what=source, why=why)
    return kinds.total()


async def import_export(
    memory: MemoryClient, export: ProgramExport, *, readers: Sequence[str] | None = None
) -> AsyncIterator[ImportReport]:
    """Stores what is new of an export; yields the same report after each batch.

    Messages and records that are stored already stay as they are, so a repeated import adds what is new, and an
    interrupted one continues.

    Args:
        memory: Of the agent that gets them.
        export: As it was found in a file.
        readers: Who alone may read the messages; records are read by the agent alone.

    Raises:
        InvalidInputError: the file cannot be read further; what came before the named place is stored.
    """
    report = ImportReport(export.format)
    batch: list[ImportedMessage] = []
    size = 0
    for item in without_conflicts(export.items()):
        report.read += 1
        match item:
            case ImportedMessage():
                batch.append(item if readers is None else _for_readers(item, readers))
                size += len(item.message.resource.content)
            case ImportedRecord():
                await _store_record(memory, item, report)
            case LeftOut():
                report.left_out[item.reason] += 1
                report.media += item.media
            case Unstorable():
                report.skip(item)
        if len(batch) >= _BATCH or size >= _BATCH_CHARACTERS or report.read % _BATCH == 0:
            await _store_messages(memory, batch, report)
            batch, size = [], 0
            yield report
    await _store_messages(memory, batch, report)
    yield report


def _for_readers(item: ImportedMessage, readers: Sequence[str]) -> ImportedMessage:
    resource = item.message.resource.model_copy(update={"readers": readers})
    return item._replace(message=item.message.model_copy(update={"resource": resource}))


async def _store_messages(
    memory: MemoryClient, batch: list[ImportedMessage], report: ImportReport
) -> None:
    """Stores a batch, one channel after the other, so that new ones are counted by channel."""
    by_channel: dict[str, list[ImportedMessage]] = defaultdict(list)
    for item in batch:
        by_channel[item.message.resource.channel].append(item)
    for channel, items in by_channel.items():
        refused: list[InvalidInputError] = []
        named = [(item.place, item.message) for item in items]
        new = await store_batch(memory, named, refused.append)
        places = {error.what for error in refused}
        count = report.channel(channel)
        count.new += new
        for item in items:
            if item.place not in places:
                count.add(item.message.resource.at)
                report.media += item.media
        for error in refused:
            report.skip(Unstorable(error.what, error.why))


async def _store_record(memory: MemoryClient, item: ImportedRecord, report: ImportReport) -> None:
    """Stores a record if there is none; one with another value stays, since it may be newer."""
    try:
        await memory.records.set(item.namespace, item.key, item.value, expected_version=0)
    except StaleVersionError as error:
        if error.stored.value != item.value:
            report.skip(
                Unstorable(item.place, "the memory has another value for this key, which stays")
            )
            return
        new = 0
    except InvalidInputError as error:
        report.skip(Unstorable(item.place, str(error)))
        return
    else:
        new = 1
    count = report.channel(item.namespace)
    count.add(None)
    count.new += new
