"""Writes of records by a contract: what a write on a stale version comes to, and how a conflict is resolved."""

from datetime import timedelta
from typing import Any

from mnestic.memory.canonical import check_json
from mnestic.memory.contract.document import Sync
from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleVersionError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.long_term.conflicts import (
    PersistedRecord,
    RecordConflict,
    check_is_open,
    conflicts_of,
    merge,
    version_key,
    versions_of,
)
from mnestic.memory.jobs.long_term.filters import METADATA
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.jobs.memory_operations import PersistArguments
from mnestic.memory.ports import Transaction

_WHOLE = ("",)  # the fields of a conflict that is of the whole value


async def write_record(
    transaction: Transaction,
    namespace: str,
    key: str,
    *,
    value: Any,
    metadata: dict[str, Any] | None = None,
    ttl: timedelta | None = None,
    expected_version: int | None = None,
) -> LongTermRecord:
    """Writes a record, unless it speaks of what was forgotten and is kept out.

    Raises:
        InvalidInputError: the value cannot be stored, or does not fit the schema of its namespace, or Mnestic alone writes there.
        KeptOutError: it speaks of what is kept out.
        StaleVersionError: the record has another version; holds what is stored.
    """
    check_json(value, what="value")
    check_is_open(namespace)
    texts = texts_of([namespace, key, value, metadata])
    transaction.suppression_list.load_ahead()  # its check takes no round trip of its own then
    try:
        record = await transaction.records.set(
            namespace, key, value, ttl=ttl, expected_version=expected_version, metadata=metadata
        )
    except StaleVersionError:
        await transaction.suppression_list.check(*texts, what="record")  # it may become a conflict
        raise
    await transaction.suppression_list.check(*texts, what="record")  # a refusal undoes the write
    return record


async def persist_record(
    transaction: Transaction, arguments: PersistArguments, sync: Sync, *, new_id: str
) -> PersistedRecord:
    """Writes a record; on a stale version the contract decides.

    Under `last_write` it is written anyway. Under `merge` it is merged with what is stored, by the version that both follow. What
    cannot be merged, and under `manual` each, waits as a conflict; the record stays as it is.

    Args:
        transaction: The agent's.
        arguments: The write.
        sync: What the contract says of it.
        new_id: The id of a conflict, if there is one.

    Raises:
        InvalidInputError: the value does not fit the schema.
        KeptOutError: it speaks of what was forgotten and is kept out.
    """
    try:
        record = await _set(transaction, arguments)
    except StaleVersionError as stale:
        stored = stale.stored if isinstance(stale.stored, LongTermRecord) else None
        return await _settle(transaction, arguments, sync, stored=stored, new_id=new_id)
    return PersistedRecord(**record.model_dump())


async def list_conflicts(
    transaction: Transaction, schema_id: str, *, limit: int, cursor: str | None
) -> tuple[tuple[RecordConflict, ...], str | None]:
    """The writes to a schema that wait for a decision, by id, and the cursor of the next page."""
    records, following = await transaction.records.list_by_namespace(
        conflicts_of(schema_id), limit=limit, cursor=cursor
    )
    return tuple(RecordConflict.model_validate(record.value) for record in records), following


async def take_conflict(
    transaction: Transaction, schema_id: str, conflict_id: str
) -> RecordConflict:
    """Ends a conflict, and gives the write that waited.

    Raises:
        NotFoundError: there is no such conflict.
    """
    namespace = conflicts_of(schema_id)
    found = await transaction.records.find(namespace, conflict_id)
    if found is None:
        raise NotFoundError(what=f"conflict of {schema_id}", name=conflict_id)
    await transaction.records.delete(namespace, conflict_id)
    return RecordConflict.model_validate(found.value)


async def _settle(
    transaction: Transaction,
    arguments: PersistArguments,
    sync: Sync,
    *,
    stored: LongTermRecord | None,
    new_id: str,
) -> PersistedRecord:
    resolution = sync.conflict_resolution
    if resolution == "last_write" or stored is None:
        latest = arguments.model_copy(update={"expected_version": None})
        return PersistedRecord(**(await _set(transaction, latest)).model_dump())
    fields: tuple[str, ...] = _WHOLE
    if resolution == "merge":
        place = version_key(arguments.key, arguments.expected_version or 0)
        base = await transaction.records.find(versions_of(arguments.schema_id), place)
        if base is not None:
            merged, fields = merge(base.value["value"], stored.value, arguments.value)
            metadata, in_metadata = merge(
                base.value.get("metadata"), stored.metadata, arguments.metadata
            )
            fields += tuple(f"{METADATA}.{one}".rstrip(".") for one in in_metadata)
            if not fields:
                update = {
                    "value": merged,
                    "metadata": metadata,
                    "expected_version": stored.version,
                }
                try:
                    record = await _set(transaction, arguments.model_copy(update=update))
                except InvalidInputError:  # each fits the schema, but not both together
                    fields = _WHOLE
                else:
                    return PersistedRecord(**record.model_dump())
    conflict = RecordConflict(
        id=new_id,
        schema_id=arguments.schema_id,
        key=arguments.key,
        base_version=arguments.expected_version or 0,
        value=arguments.value,
        metadata=arguments.metadata,
        ttl_seconds=arguments.ttl_seconds,
        fields=fields,
    )
    rules = await transaction.records.find_rules(arguments.schema_id)
    await transaction.records.set(
        conflicts_of(arguments.schema_id),
        new_id,
        conflict.model_dump(mode="json"),
        ttl=min((one for one in (conflict.ttl, rules and rules.ttl) if one), default=None),
    )
    return PersistedRecord(**stored.model_dump(), conflict_id=new_id)


async def _set(transaction: Transaction, arguments: PersistArguments) -> LongTermRecord:
    ttl = arguments.ttl_seconds
    return await write_record(
        transaction,
        arguments.schema_id,
        arguments.key,
        value=arguments.value,
        metadata=arguments.metadata,
        ttl=None if ttl is None else timedelta(seconds=ttl),
        expected_version=arguments.expected_version,
    )
