"""Removing and restoring entries, so that no other entry names one that is gone.

A person removes one, and a forgetting many.
"""

from collections.abc import Collection

from mnestic.activities.knowledge.decisions import decision
from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.enrichment import with_importance
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.ports import Transaction


async def remove_entries(transaction: Transaction, entry_ids: Collection[str]) -> int:
    """Removes entries from every index, the archive, and those that name them; returns how many there were.

    What was merged into an entry goes with it, since it says the same.
    """
    gone = {*entry_ids, *await transaction.archive.select_merged(entry_ids)}
    naming = await transaction.entries.select_naming(gone)
    known = await transaction.entries.select(sorted(gone))
    above = {entry.parent for entry in known.values() if entry.parent}
    locked = await transaction.entries.select(sorted({*gone, *naming, *above}), lock=True)
    removed = await transaction.entries.remove(sorted(gone & locked.keys()))
    removed += await transaction.archive.remove(gone - locked.keys())
    left = [entry for entry in locked.values() if entry.id not in gone]
    children = await transaction.entries.count_children([entry.id for entry in left])
    basis = await transaction.settings.importance_basis()
    await transaction.entries.change(
        [
            with_importance(_without(one, gone), basis=basis, children=children[one.id])
            for one in left
        ]
    )
    return removed


async def delete_entries(transaction: Transaction, entry_ids: Collection[str]) -> int:
    """Removes entries, and those of their raw messages that nothing refers to then; returns how many entries there were.

    Nothing is extracted from their messages any more.
    """
    gone = sorted({*entry_ids, *await transaction.archive.select_merged(entry_ids)})
    known = (await transaction.entries.select(gone), await transaction.archive.select(gone))
    places = [
        (entry.session_id, entry.source_id)
        for found in known
        for entry in found.values()
        if entry.session_id is not None and entry.source_id is not None
    ]
    if places:  # messages before entries, as everybody locks them
        await transaction.ingest_states.lock_messages(places)
        await transaction.ingest_states.drop(places)
    removed = await remove_entries(transaction, entry_ids)
    if places:
        await transaction.maintenance.remove_orphans(places)
    return removed


async def take_back(
    transaction: Transaction, entry: Entry, *, facts: bool
) -> tuple[FactChange, ...]:
    """Removes an entry, whose message is not learned from any more; with `facts`, those too that follow from it alone.

    Returns the facts that changed.

    Raises:
        NotFoundError: it was removed meanwhile.
    """
    # Message, facts, entries: ingestion locks them in the same order.
    if place := message_of(entry):
        await transaction.ingest_states.lock_messages([place])
    changes = await _delete_facts(transaction, entry) if facts else ()
    if not await delete_entries(transaction, [entry.id]):
        raise NotFoundError(what="entry", name=entry.id)
    return changes


async def facts_from(transaction: Transaction, entry: Entry) -> tuple[Fact, ...]:
    """The facts, whatever their status, that follow from what an entry's message claims."""
    place = message_of(entry)
    return await transaction.facts.list_from(place) if place else ()


def message_of(entry: Entry) -> tuple[str, str] | None:
    """The session and the source id of an entry's message; None if it has none."""
    if entry.session_id is None or entry.source_id is None:
        return None
    return entry.session_id, entry.source_id


async def _delete_facts(transaction: Transaction, entry: Entry) -> tuple[FactChange, ...]:
    """Deletes the facts that follow from an entry's message alone, recorded as a person's decision."""
    own_message = (entry.session_id, entry.source_id)
    to_delete = []
    for fact in await facts_from(transaction, entry):
        claims = await transaction.facts.list_claims(fact)
        is_only_source = all(
            (claim.source.session_id, claim.source.source_id) == own_message for claim in claims
        )
        if is_only_source and fact.status != "deleted":
            to_delete.append(fact)
    return await transaction.facts.claim(
        [await decision(transaction, fact, "deleted") for fact in to_delete]
    )


async def restore_entries(transaction: Transaction, entry_ids: Collection[str]) -> tuple[str, ...]:
    """Restores archived entries, without the names of entries that are gone by now; returns the ids of those restored."""
    archived = await transaction.archive.select(entry_ids, lock=True)
    named = {name for entry in archived.values() for name in (*entry.related, entry.parent) if name}
    live = await transaction.entries.select_times(named)
    gone = named - {*live, *await transaction.archive.select_marks(named)}
    restored = await transaction.archive.restore(sorted(archived))
    dangling = [entry for entry in archived.values() if gone & {*entry.related, entry.parent}]
    await transaction.entries.change([_without(entry, gone) for entry in dangling])
    return restored


def _without(entry: Entry, gone: Collection[str]) -> Entry:
    related = tuple(name for name in entry.related if name not in gone)
    parent = None if entry.parent in gone else entry.parent
    return entry.model_copy(update={"related": related, "parent": parent})
