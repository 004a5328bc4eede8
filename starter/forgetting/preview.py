"""Previews the forgetting of a topic: what it would remove and what would remain.

The client shows it before forgetting, and uses it for the report afterwards.
"""

from collections import Counter
from collections.abc import Sequence

from mnestic.activities.forgetting.cuts import find_cuts
from mnestic.activities.forgetting.running_jobs import RunningJobs
from mnestic.activities.forgetting.topic_rows import (
    COPIES,
    ENTRIES,
    KNOWLEDGE,
    SHARED,
    TRACES,
    Begin,
    MatchedRow,
    each_page,
    make_topic,
)
from mnestic.memory.forgetting.ports import Place
from mnestic.memory.forgetting.redaction import CUT, removed_sentences
from mnestic.memory.forgetting.requests import ITEM_KINDS, ForgottenItem, RemainingRow
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.ports import Transaction

_BATCH = 500  # entries
_NOT_SHOWN = frozenset({*TRACES, "ingest_state", "claim"})  # but counted


class TopicPreview:
    """A preview, which scans all tables once."""

    def __init__(self, begin: Begin, *, running: RunningJobs) -> None:
        """Prepares it.

        Args:
            begin: Begins a transaction of the agent that reads.
            running: The running jobs, whose memory does not change.
        """
        self._begin, self._running = begin, running
        self._counted: Counter[str] = Counter()
        self._left: dict[tuple[str, str], RemainingRow] = {}
        self._spoken: dict[str, set[tuple[str, ...]]] = {table: set() for table in KNOWLEDGE}
        self._cut: dict[str, set[tuple[str, ...]]] = {table: set() for table in CUT}
        self._items: list[ForgottenItem] = []
        self._messages: dict[Place, list[ForgottenItem]] = {}  # of no entry that is known to go

    @property
    def left(self) -> tuple[RemainingRow, ...]:
        """What remains unchanged, without repetitions."""
        return tuple(self._left[name] for name in sorted(self._left))

    @property
    def items(self) -> tuple[ForgottenItem, ...]:
        """The facts, entries and sentences that would go, in this order."""
        messages = [item for _, items in sorted(self._messages.items()) for item in items]
        return tuple(sorted([*self._items, *messages], key=lambda one: ITEM_KINDS.index(one.kind)))

    @property
    def purged(self) -> dict[str, int]:
        """How many rows would be removed or redacted, by table."""
        return {table: number for table, number in sorted(self._counted.items()) if number}

    async def run(self, text: str, *, close: Sequence[ForgottenItem]) -> None:
        """Searches for everything that matches a topic.

        Args:
            text: The topic.
            close: The entries that are about it without having its words.

        Raises:
            InvalidInputError: it has no content words.
            TemporalUnavailableError: Temporal does not answer.
        """
        async with self._begin() as transaction:
            entries = tuple(item.id for item in close)
            topic = await make_topic(transaction, text, entries=entries)
        for table in (*COPIES, *KNOWLEDGE, *TRACES, *SHARED):
            await self._look(table, topic)
        async with self._begin() as transaction:
            await self._follow(transaction, topic, close)

    async def _look(self, table: str, topic: Topic) -> None:
        async def note_rows(_: Transaction, spoken: Sequence[MatchedRow]) -> None:
            for one in spoken:
                if one.left is not None:
                    self._left[one.left.kind, one.left.name] = one.left
                elif one.has_cut_sentences:
                    self._cut[table].add(one.row.key)
                    self._show(one, topic)
                elif one.takes_others or table == "ingest_state":
                    self._spoken[table].add(one.row.key)
                    self._show(one, topic)
                else:
                    self._counted[table] += 1
                    self._show(one, topic)

        await each_page(
            self._begin, table, topic, running=self._running, lock=False, deal=note_rows
        )

    def _show(self, one: MatchedRow, topic: Topic) -> None:
        """Adds the sentences that a row would lose; a row that is removed entirely is an item itself."""
        if one.row.table in _NOT_SHOWN or (one.row.table in ENTRIES and one.redaction.remove):
            return
        place = f"{one.row.table} {'/'.join(map(str, one.row.key))}"
        left = one.redaction.values.get("content") if one.has_cut_sentences else None
        items = [
            ForgottenItem(kind="sentence", id=place, text=sentence, left=left)
            for sentence in removed_sentences(one.row.columns, one.redaction, topic)
        ]
        if one.row.table == "resource":  # which is shown unless its entry is
            self._messages[one.row.key[0], one.row.key[1]] = items
        else:
            self._items += items

    async def _follow(
        self, transaction: Transaction, topic: Topic, close: Sequence[ForgottenItem]
    ) -> None:
        """Follows removed entries and messages: one removes the other, and both remove their claims and facts."""
        forgetting = transaction.forgetting
        spoken = {item.id for item in close}
        spoken |= {key[0] for table in ENTRIES for key in self._spoken[table]}
        messages = await forgetting.list_sources(spoken)
        places: set[Place] = {place for _, place in messages if place is not None}
        places |= {(key[0], key[1]) for key in self._spoken["resource"]}
        gone = {entry_id for entry_id, _ in messages} | {*await forgetting.entries_from(places)}
        cut = {key[0] for key in self._cut["entry"]} - gone
        archived = {key[0] for key in self._cut["archived_entry"]} - gone
        sources = await forgetting.list_sources(cut | archived)
        cut_places = {place for _, place in sources if place is not None}
        for place in cut_places:
            self._messages.pop(place, None)
        cut_places |= {(key[0], key[1]) for key in self._cut["resource"]}
        found = await find_cuts(transaction, topic, cut_places - places)
        claims = {key[0] for key in self._spoken["claim"]} | {*await forgetting.claims_from(places)}
        claims |= {*found.claims}
        places |= found.cuts.keys()
        self._counted.update(entry=len(gone) + len(cut), archived_entry=len(archived))
        self._counted.update(resource=len(places), claim=len(claims))
        facts = await forgetting.facts_of(claims)
        self._counted["fact"] = len(facts)
        self._items += map(_fact_item, facts)
        self._items += close
        await self._show_entries(transaction, sorted(gone - {item.id for item in close}))
        self._counted["ingest_state"] = len(self._spoken["ingest_state"] - places)
        self._counted.update(await forgetting.count_links(gone))
        self._counted["embedding"] += (await forgetting.count_links(cut))["embedding"]

    async def _show_entries(self, transaction: Transaction, entry_ids: Sequence[str]) -> None:
        for start in range(0, len(entry_ids), _BATCH):
            batch = entry_ids[start : start + _BATCH]
            entries = await transaction.entries.select(batch)
            entries |= await transaction.archive.select(batch)
            self._items += map(_entry_item, entries.values())
            for entry in entries.values():
                self._messages.pop((entry.session_id or "", entry.source_id or ""), None)


def _entry_item(entry: Entry) -> ForgottenItem:
    return ForgottenItem(kind="entry", id=entry.id, text=entry.content, at=entry.at)


def _fact_item(fact: Fact) -> ForgottenItem:
    text = f"{fact.subject} {fact.predicate} {fact.object}"
    return ForgottenItem(kind="fact", id=fact.id, text=text, at=fact.valid_from)
