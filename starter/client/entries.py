"""`memory.entries`: an agent's entries; get, list, change and remove them."""

from typing import Unpack

from pydantic import ValidationError

from mnestic.activities.knowledge.receiving import recompute_importance
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.enrichment import changed_entry
from mnestic.memory.knowledge.entries import (
    Entry,
    EntryChange,
    EntryQuery,
)
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.memory.ports import Transaction
from mnestic.memory.validation import refused
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.client.keyword_arguments import EntryChanges
from mnestic.starter.knowledge.decisions import decision


class EntryClient(ClientPart):
    """The entries of one agent. Each call is a transaction of its own, with audit rows."""

    async def get(self, entry_id: str) -> Entry:
        """An entry, whatever its status.

        Raises:
            NotFoundError: there is none.
        """
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.get(entry_id)

    async def find_ids(self, entry_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of entries that begin so, whatever their status: as much of an id as a person gives."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.list_ids(entry_id, limit=limit)

    async def list(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """Entries, newest first, and the cursor of the next page; its children are those of a parent."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.list_entries(query, limit=limit, cursor=cursor)

    async def find_message(self, entry: Entry) -> PendingMessage | None:
        """The message of an entry, with the state of its ingestion; None if it has none."""
        if entry.session_id is None or entry.source_id is None:
            return None
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.ingest_states.find(entry.session_id, entry.source_id)

    async def list_facts(self, entry: Entry) -> tuple[Fact, ...]:
        """The facts, whatever their status, that follow from what an entry's message claims."""
        async with self._scope.transaction(write=False) as transaction:
            return await _facts_from(transaction, entry)

    async def change(self, entry_id: str, **changes: Unpack[EntryChanges]) -> Entry:
        """Changes an entry; with another content its summary, keywords and words follow.

        So does its vector, unless that is asked of a server (`MNESTIC_EMBEDDING_MODEL`): then the next `IngestMessages` does.

        Facts follow from messages, which never change: they are changed by `memory.facts.add` and `memory.facts.delete`.

        Args:
            entry_id: Which one.
            **changes: As in `mnestic.memory.knowledge.entries.EntryChange`: `content`, `entry_type`, `subjects`, `tags`,
                `aliases`, `critical`, `status`, `parent`, `expires_at`.

        Raises:
            NotFoundError: there is no such entry, or no such parent.
            InvalidInputError: a field cannot be.
        """
        try:
            change = EntryChange.model_validate(changes)
        except ValidationError as error:
            raise refused(f"entry {entry_id}", error) from None
        async with self._scope.transaction(write=True) as transaction:
            known = await transaction.entries.select([entry_id])
            above = {change.parent, *(entry.parent for entry in known.values())}
            names = [name for name in {entry_id, *above} if name]
            found = await transaction.entries.select(names, lock=True)
            for name in (entry_id, change.parent):
                if name and name not in found:
                    raise NotFoundError(what="entry", name=name)
            await _check_not_above(transaction, entry_id, found.get(change.parent or ""))
            before, now = found[entry_id], await transaction.now()
            children = (await transaction.entries.count_children([entry_id]))[entry_id]
            changed = changed_entry(before, change, now=now, children=children)
            await transaction.entries.change([changed])
            if changed.parent != before.parent:
                parents = {name for name in (before.parent, changed.parent) if name}
                await recompute_importance(transaction, parents)
            return await transaction.entries.get(entry_id)

    async def remove(self, entry_id: str, *, facts: bool = False) -> tuple[FactChange, ...]:
        """Removes an entry from every index; its message is not learned from any more.

        The raw message stays, and sent again it changes nothing. What was learned from it stays too,
        unless `facts` asks to delete what follows from it alone.

        Returns:
            What is believed otherwise.

        Raises:
            NotFoundError: there is no such entry.
        """
        async with self._scope.transaction(write=True) as transaction:
            entry = (await transaction.entries.select([entry_id])).get(entry_id)
            if entry is None:
                raise NotFoundError(what="entry", name=entry_id)
            # Message, facts, entries: who learns locks them in this order too.
            if entry.session_id is not None and entry.source_id is not None:
                place = (entry.session_id, entry.source_id)
                lesson = await transaction.ingest_states.find(*place, lock=True)
                if lesson is not None:
                    await transaction.ingest_states.drop([lesson])
            changes = await _delete_facts(transaction, entry) if facts else ()
            if not await remove_entries(transaction, [entry_id]):
                raise NotFoundError(what="entry", name=entry_id)
            return changes


async def _check_not_above(transaction: Transaction, entry_id: str, parent: Entry | None) -> None:
    """Refuses a parent that the entry itself stands above."""
    while parent is not None:
        if parent.id == entry_id:
            raise InvalidInputError(what=f"entry {entry_id}", why="cannot be above itself")
        above = await transaction.entries.select([parent.parent] if parent.parent else [])
        parent = next(iter(above.values()), None)


async def _facts_from(transaction: Transaction, entry: Entry) -> tuple[Fact, ...]:
    if entry.session_id is None or entry.source_id is None:
        return ()
    return await transaction.facts.list_from((entry.session_id, entry.source_id))


async def _delete_facts(transaction: Transaction, entry: Entry) -> tuple[FactChange, ...]:
    """Deletes the facts that follow from an entry's message alone, as a person's decision."""
    own = (entry.session_id, entry.source_id)
    decided = []
    for fact in await _facts_from(transaction, entry):
        said = await transaction.facts.list_claims(fact)
        alone = all((claim.source.session_id, claim.source.source_id) == own for claim in said)
        if alone and fact.status != "deleted":
            decided.append(fact)
    return await transaction.facts.claim(
        [await decision(transaction, fact, "deleted") for fact in decided]
    )
