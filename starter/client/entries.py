"""An agent's entries from outside a job: add, list, change, remove, count.

They stand apart from the facts, which `KnowledgeClient` has, and from the rest of an agent's memory.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from pydantic import ValidationError

from mnestic.activities.knowledge.receiving import add_entry, recompute_importance
from mnestic.activities.knowledge.removal import remove_entries
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.knowledge.claims import PERSON, Claim, ClaimSource
from mnestic.memory.knowledge.enrichment import changed_entry
from mnestic.memory.knowledge.entries import (
    Entry,
    EntryChange,
    EntryDraft,
    EntryQuery,
    EntryType,
)
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.memory.knowledge.statistics import MemoryStatistics
from mnestic.memory.ports import Transaction
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.keyword_arguments import EntryArguments, EntryChanges
from mnestic.starter.client.knowledge import KnowledgeClient
from mnestic.starter.knowledge.decisions import decision_time
from mnestic.starter.knowledge.extraction_starts import ExtractionStarts


class EntryClient(KnowledgeClient):
    """One agent's entries. Each call is a transaction of its own, with audit rows."""

    _extraction: ExtractionStarts | None = None  # without Temporal

    async def add(
        self,
        content: FreeText,
        *,
        entry_type: EntryType = "knowledge",
        subjects: Sequence[str] = (),
        critical: bool = False,
        parent: str | None = None,
        at: datetime | None = None,
        source_id: str | None = None,
        expires_at: datetime | None = None,
        **more: Unpack[EntryArguments],
    ) -> Entry:
        """Adds an entry, which is kept and found when this returns; what follows from it is learned soon after.

        The same type, content and subjects by the same speaker once more change nothing.

        Args:
            content: What is to be remembered, 1 byte to 1 MiB.
            entry_type: One of `memory.entries.ENTRY_TYPES`.
            subjects: Whom or what it is about.
            critical: Whether no policy may ever delete it.
            parent: The entry that it belongs to, such as the one it corrects.
            at: When it was said or seen; now by default. Aware.
            source_id: Its name where it comes from; the same one is the same entry, whatever it says.
            expires_at: When it expires. Aware.
            **more: As in `memory.entries.EntryDraft`: `tags`, `aliases`, `speaker` (the agent itself by
                default), `session_id` and `channel`.

        Raises:
            InvalidInputError: a field cannot be, or the message of that `source_id` was removed.
            NotFoundError: there is no such parent.
        """
        try:
            draft = EntryDraft.model_validate(
                {
                    **more,
                    "content": content,
                    "entry_type": entry_type,
                    "subjects": tuple(subjects),
                    "critical": critical,
                    "parent": parent,
                    "at": at,
                    "source_id": source_id,
                    "expires_at": expires_at,
                }
            )
        except ValidationError as error:
            raise refused("entry", error) from None
        async with self._transaction(write=True) as transaction:
            entry = await add_entry(transaction, draft, owner=self._owner, speaker=self._agent_id)
        self._extract_soon()
        return entry

    async def get_entry(self, entry_id: str) -> Entry:
        """An entry, whatever its status.

        Raises:
            NotFoundError: there is none.
        """
        async with self._transaction(write=False) as transaction:
            return await transaction.entries.get(entry_id)

    async def find_entry_ids(self, entry_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of entries that begin so, whatever their status: as much of an id as a person gives."""
        async with self._transaction(write=False) as transaction:
            return await transaction.entries.list_ids(entry_id, limit=limit)

    async def list_entries(
        self, query: EntryQuery, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Entry, ...], str | None]:
        """Entries, newest first, and the cursor of the next page; its children are those of a parent."""
        async with self._transaction(write=False) as transaction:
            return await transaction.entries.list_entries(query, limit=limit, cursor=cursor)

    async def find_lesson(self, entry: Entry) -> PendingMessage | None:
        """How far it is with learning from an entry's message, None if there is none."""
        if entry.session_id is None or entry.source_id is None:
            return None
        async with self._transaction(write=False) as transaction:
            return await transaction.ingest_states.find(entry.session_id, entry.source_id)

    async def list_facts_from(self, entry: Entry) -> tuple[Fact, ...]:
        """The facts, whatever their status, that follow from what an entry's message claims."""
        async with self._transaction(write=False) as transaction:
            return await _facts_from(transaction, entry)

    async def change_entry(self, entry_id: str, **changes: Unpack[EntryChanges]) -> Entry:
        """Changes an entry; with another content its summary, keywords and words follow.

        So does its vector, unless that is asked of a server (`MNESTIC_EMBEDDING_MODEL`): then the next `IngestMessages` does.

        Facts follow from messages, which never change: they are changed by `add_fact` and `delete_fact`.

        Args:
            entry_id: Which one.
            **changes: As in `memory.entries.EntryChange`: `content`, `entry_type`, `subjects`, `tags`,
                `aliases`, `critical`, `status`, `parent`, `expires_at`.

        Raises:
            NotFoundError: there is no such entry, or no such parent.
            InvalidInputError: a field cannot be.
        """
        try:
            change = EntryChange.model_validate(changes)
        except ValidationError as error:
            raise refused(f"entry {entry_id}", error) from None
        async with self._transaction(write=True) as transaction:
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

    async def remove_entry(self, entry_id: str, *, facts: bool = False) -> tuple[FactChange, ...]:
        """Removes an entry from every index; its message is not learned from any more.

        The raw message stays, and sent again it changes nothing. What was learned from it stays too,
        unless `facts` asks to delete what follows from it alone.

        Returns:
            What is believed otherwise.

        Raises:
            NotFoundError: there is no such entry.
        """
        async with self._transaction(write=True) as transaction:
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

    async def stats(self) -> MemoryStatistics:
        """The agent's memory in numbers."""
        async with self._transaction(write=False) as transaction:
            return MemoryStatistics(
                entries=await transaction.entries.count(),
                learning=await transaction.ingest_states.count(),
                facts=await transaction.facts.count(),
            )

    def _extract_soon(self) -> None:
        """Has what was added learned from, where Temporal is at hand; else a worker sees it (`extraction_poll.py`)."""
        if self._extraction is not None:
            self._extraction.start_in_background(self._agent_id)

    @property
    def _owner(self) -> str:
        return f"{self._tenant_id}/{self._agent_id}"


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
        [
            Claim(
                id=uuid.uuid4().hex,
                kind="deleted",
                subject=fact.subject,
                predicate=fact.predicate,
                object=fact.object,
                said_at=await decision_time(transaction, fact.subject, fact.predicate),
                source=ClaimSource(extractor=PERSON),
            )
            for fact in decided
        ]
    )
