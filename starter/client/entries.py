"""`memory.entries`: an agent's entries; get, list, change and remove them."""

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from pydantic import ValidationError

from mnestic.activities.knowledge.receiving import recompute_importance
from mnestic.activities.knowledge.removal import (
    facts_from,
    message_of,
    restore_entries,
    take_back,
)
from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleRequestError
from mnestic.memory.knowledge.enrichment import changed_entry
from mnestic.memory.knowledge.entries import (
    ArchivedEntry,
    ArchiveMark,
    Entry,
    EntryChange,
    EntryQuery,
)
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.long_texts import work_on
from mnestic.memory.ports import Transaction
from mnestic.memory.provenance import EntryProvenance, MessageState
from mnestic.memory.validation import refused
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.client.keyword_arguments import EntryChanges
from mnestic.starter.short_texts import shortened

_MOST_CHILDREN = _ARCHIVED_AT_ONCE = 1000
_LATEST = 20  # retrievals and changes


class EntryClient(ClientPart):
    """The entries of one agent. Each call is a transaction of its own, with audit rows."""

    async def get(self, entry_id: str) -> Entry:
        """An entry, whatever its status; one in the archive is archived.

        Raises:
            NotFoundError: there is none.
        """
        async with self._scope.transaction(write=False) as transaction:
            archived = await transaction.archive.select([entry_id])
            if entry_id in archived:
                return archived[entry_id].model_copy(update={"status": "archived"})
            return await transaction.entries.get(entry_id)

    async def select(self, entry_ids: Sequence[str]) -> dict[str, Entry]:
        """The entries of some ids, live or archived, by id; those that there are not are left out."""
        async with self._scope.transaction(write=False) as transaction:
            archived = await transaction.archive.select(entry_ids)
            return {**await transaction.entries.select(entry_ids), **archived}

    async def provenance(self, entry_id: str) -> EntryProvenance:
        """An entry with where it comes from, what was learned from it, what superseded it, and when it was retrieved.

        Raises:
            NotFoundError: there is none.
        """
        async with self._scope.transaction(write=False) as transaction:
            archived = await transaction.archive.select([entry_id])
            marks = await transaction.archive.select_marks([entry_id])
            entry = archived.get(entry_id) or await transaction.entries.get(entry_id)
            place = message_of(entry)
            pending = await transaction.ingest_states.find(*place) if place else None
            children, _ = await transaction.entries.list_entries(
                EntryQuery(kinds=(), parent=entry_id), limit=_MOST_CHILDREN
            )
            superseded = await transaction.entries.find_supersession(entry_id)
            sources = await transaction.archive.select_merged([entry_id])
            by = superseded.by if superseded else None
            names = {entry.parent, entry.merged_into, by, *entry.related}
            names |= {*sources, *(child.id for child in children)}
            return EntryProvenance(
                entry=entry.model_copy(update={"status": "archived"}) if archived else entry,
                archived=marks.get(entry_id),
                supersession=superseded,
                message=pending
                and MessageState.model_validate(
                    pending.model_dump(include={*MessageState.model_fields})
                ),
                facts=await facts_from(transaction, entry),
                children=tuple(child.id for child in children),
                sources=sources,
                retrievals=await transaction.retrieval_log.list_with(entry_id, limit=_LATEST),
                changes=await transaction.audit.list_changes(
                    self._scope.caller.agent_id, entry_id, limit=_LATEST
                ),
                named=await _beginnings(transaction, sorted(filter(None, names))),
            )

    async def find_ids(self, entry_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of entries with a prefix, whatever their status."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.list_ids(entry_id, limit=limit)

    async def list(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """Entries, newest first, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.entries.list_entries(query, limit=limit, cursor=cursor)

    async def list_facts(self, entry: Entry) -> tuple[Fact, ...]:
        """The facts, whatever their status, that follow from what an entry's message claims."""
        async with self._scope.transaction(write=False) as transaction:
            return await facts_from(transaction, entry)

    async def change(self, entry_id: str, **changes: Unpack[EntryChanges]) -> Entry:
        """Changes an entry. With new content, its summary, keywords and search words change too.

        So does its vector; one that a server makes (`MNESTIC_EMBEDDING_MODEL`) comes in the background.

        Its facts do not change, since they follow from messages, which never change. Change facts by `memory.facts.add` and `memory.facts.delete`.

        Args:
            entry_id: Which one.
            **changes: As in `mnestic.memory.knowledge.entries.EntryChange`: `content`, `entry_type`, `subjects`, `tags`,
                `aliases`, `critical`, `status`, `parent`, `expires_at`.

        Raises:
            NotFoundError: there is no such entry, or no such parent.
            StaleRequestError: it is archived.
            InvalidInputError: no field is given, or one has an invalid value.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        if not changes:
            raise InvalidInputError(
                what=f"entry {entry_id}", why="no change is given; give one, such as its content"
            )
        try:
            change = EntryChange.model_validate(changes)
        except ValidationError as error:
            raise refused(f"entry {entry_id}", error, model=EntryChange) from None
        said = (change.content, *change.subjects, *change.tags, *change.aliases)
        async with self._scope.transaction(write=True) as transaction:
            await transaction.suppression_list.check(*said, what=f"entry {entry_id}")
            before_change = await transaction.entries.select([entry_id])
            entry_ids_above = {change.parent, *(entry.parent for entry in before_change.values())}
            names = [name for name in {entry_id, *entry_ids_above} if name]
            locked = await transaction.entries.select(names, lock=True)
            for name in (entry_id, change.parent):
                if name and name not in locked:
                    raise await _absent(transaction, name)
            await _check_not_above(transaction, entry_id, locked.get(change.parent or ""))
            before, basis = locked[entry_id], await transaction.settings.importance_basis()
            children = (await transaction.entries.count_children([entry_id]))[entry_id]
            describe = partial(changed_entry, before, change, children=children, basis=basis)
            changed = await work_on([change.content], describe)
            await transaction.entries.change([changed])
            if changed.parent != before.parent:
                parents = {name for name in (before.parent, changed.parent) if name}
                await recompute_importance(transaction, parents)
            stored = await transaction.entries.get(entry_id)
        if change.content:
            self._scope.start_extraction()  # which makes vectors too
        return stored

    async def delete(self, entry_id: str, *, facts: bool = False) -> tuple[FactChange, ...]:
        """Deletes an entry from every index, or from the archive; nothing is extracted from its message any more.

        The raw message goes too, unless claims were learned from it, which quote it. Sending it again changes nothing. Facts
        from it stay, unless `facts` deletes those that follow from it alone.

        Returns:
            The facts that changed.

        Raises:
            NotFoundError: there is no such entry.
        """
        async with self._scope.transaction(write=True) as transaction:
            found = await transaction.entries.select([entry_id])
            entry = (found or await transaction.archive.select([entry_id])).get(entry_id)
            if entry is None:
                raise NotFoundError(what="entry", name=entry_id)
            return await take_back(transaction, entry, facts=facts)

    async def reinstate(self, entry_id: str) -> Entry:
        """Takes back the supersession of an entry: it counts again, until a later message names it or its fact ends anew.

        Facts do not change; `memory.facts.reactivate` undoes the end of one, and its messages count again too.

        Raises:
            NotFoundError: there is no such entry.
            StaleRequestError: it is not superseded.
        """
        async with self._scope.transaction(write=True) as transaction:
            entry = (await transaction.entries.select([entry_id], lock=True)).get(entry_id)
            if entry is None:
                raise await _absent(transaction, entry_id)
            supersession = await transaction.entries.find_supersession(entry_id)
            if supersession is None:
                raise StaleRequestError(what=f"entry {entry_id}", why="is not superseded")
            reinstated_at = max(await transaction.now(), supersession.at)
            changed = entry.model_copy(update={"reinstated_at": reinstated_at})
            await transaction.entries.change([changed])
            return await transaction.entries.get(entry_id)

    async def archive(self, entry_id: str) -> None:
        """Moves an entry to the archive, out of every index; its facts stay, and `restore` brings it back whole.

        Raises:
            NotFoundError: there is no such entry.
            InvalidInputError: it follows from a fact or an episode.
        """
        async with self._scope.transaction(write=True) as transaction:
            mark = ArchiveMark(archived_at=await transaction.now(), reason="by_hand")
            if not await transaction.archive.add([entry_id], mark):
                raise await _absent(transaction, entry_id)

    async def archive_matching(self, query: EntryQuery) -> int:
        """Moves all entries that a query selects to the archive, as `archive` does with one; returns how many there were.

        Raises:
            InvalidInputError: the query has no filter, or selects what follows from facts or episodes.
        """
        if query == EntryQuery(expired=query.expired, statuses=query.statuses):
            raise InvalidInputError(
                what="entries", why="would all be archived; give a filter, such as max_importance"
            )
        archived = 0
        while True:  # in one transaction they would keep writers waiting, and these them
            async with self._scope.transaction(write=True) as transaction:
                page, more = await transaction.entries.list_entries(query, limit=_ARCHIVED_AT_ONCE)
                mark = ArchiveMark(archived_at=await transaction.now(), reason="by_hand")
                archived += await transaction.archive.add([one.id for one in page], mark)
            if more is None:
                return archived

    async def restore(self, entry_id: str) -> Entry:
        """Restores an archived entry: its id, dates, counts and vectors are those that it had, and searches find it again.

        Raises:
            NotFoundError: no such entry is archived.
        """
        async with self._scope.transaction(write=True) as transaction:
            if not await restore_entries(transaction, [entry_id]):
                raise NotFoundError(what="archived entry", name=entry_id)
            return await transaction.entries.get(entry_id)

    async def list_archived(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ArchivedEntry, ...], str | None]:
        """Archived entries, the one archived last first, and the cursor of the next page."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.archive.list_archived(limit=limit, cursor=cursor)

    async def find_archived_ids(self, entry_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of archived entries with a prefix."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.archive.list_ids(entry_id, limit=limit)


async def _beginnings(transaction: Transaction, entry_ids: Sequence[str]) -> dict[str, str]:
    """The beginnings of the texts of entries, live or archived, by id."""
    archived = await transaction.archive.select(entry_ids)
    found = {**archived, **await transaction.entries.select(entry_ids)}
    return {name: shortened(entry.content) for name, entry in found.items()}


async def _absent(transaction: Transaction, entry_id: str) -> NotFoundError | StaleRequestError:
    """Why there is no live entry of an id."""
    if await transaction.archive.select_marks([entry_id]):
        return StaleRequestError(what=f"entry {entry_id}", why="is archived; restore it")
    return NotFoundError(what="entry", name=entry_id)


async def _check_not_above(transaction: Transaction, entry_id: str, parent: Entry | None) -> None:
    """Refuses a parent that is a descendant of the entry."""
    while parent is not None:
        if parent.id == entry_id:
            raise InvalidInputError(what=f"entry {entry_id}", why="cannot be above itself")
        entry_ids_above = await transaction.entries.select([parent.parent] if parent.parent else [])
        parent = next(iter(entry_ids_above.values()), None)
