"""What speaks of a topic, found without a change: what forgetting it would remove, and what it leaves.

It stands apart from the client, which shows it before, and tells what was left afterwards.
"""

from collections import Counter
from collections.abc import Sequence

from mnestic.activities.forgetting.cuts import find_cuts
from mnestic.activities.forgetting.running_jobs import RunningJobs
from mnestic.activities.forgetting.topic_rows import (
    COPIES,
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
    """Goes through all tables once."""

    def __init__(self, begin: Begin, *, running: RunningJobs) -> None:
        """Prepares it.

        Args:
            begin: Begins a transaction of the agent that reads.
            running: Whose memory is left as it is.
        """
        self._begin, self._running = begin, running
        self._counted: Counter[str] = Counter()
        self._left: dict[tuple[str, str], RemainingRow] = {}
        self._spoken: dict[str, set[tuple[str, ...]]] = {table: set() for table in KNOWLEDGE}
        self._cut: dict[str, set[tuple[str, ...]]] = {table: set() for table in CUT}
        self._items: list[ForgottenItem] = []
        self._messages: dict[Place, tuple[str, ...]] = {}  # of no entry that is known to go

    @property
    def left(self) -> tuple[RemainingRow, ...]:
        """What is left as it is, each once."""
        return tuple(self._left[name] for name in sorted(self._left))

    @property
    def items(self) -> tuple[ForgottenItem, ...]:
        """The facts, entries and sentences that would go, in this order."""
        messages = [
            ForgottenItem(kind="sentence", id=f"resource {'/'.join(place)}", text=text)
            for place, said in sorted(self._messages.items())
            for text in said
        ]
        return tuple(sorted([*self._items, *messages], key=lambda one: ITEM_KINDS.index(one.kind)))

    @property
    def purged(self) -> dict[str, int]:
        """How many rows would be removed or redacted, by table."""
        return {table: number for table, number in sorted(self._counted.items()) if number}

    async def run(self, text: str, *, close: Sequence[ForgottenItem]) -> None:
        """Looks for what speaks of a topic.

        Args:
            text: The topic.
            close: The entries that are about it without having its words.

        Raises:
            InvalidInputError: it has no words that mean something.
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
        async def keep(_: Transaction, spoken: Sequence[MatchedRow]) -> None:
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

        await each_page(self._begin, table, topic, running=self._running, lock=False, deal=keep)

    def _show(self, one: MatchedRow, topic: Topic) -> None:
        """The sentences that go out of a row; what goes as a whole is shown as that."""
        if one.row.table in _NOT_SHOWN or (one.row.table == "entry" and one.redaction.remove):
            return
        sentences = removed_sentences(one.row.columns, one.redaction, topic)
        if one.row.table == "resource":  # which is shown unless its entry is
            self._messages[one.row.key[0], one.row.key[1]] = sentences
            return
        place = f"{one.row.table} {'/'.join(map(str, one.row.key))}"
        self._items += (ForgottenItem(kind="sentence", id=place, text=said) for said in sentences)

    async def _follow(
        self, transaction: Transaction, topic: Topic, close: Sequence[ForgottenItem]
    ) -> None:
        """What goes with entries and messages: each with the other, and what was learned from them."""
        forgetting = transaction.forgetting
        spoken = {*(item.id for item in close), *(key[0] for key in self._spoken["entry"])}
        messages = await forgetting.list_sources(spoken)
        places: set[Place] = {place for _, place in messages if place is not None}
        places |= {(key[0], key[1]) for key in self._spoken["resource"]}
        gone = {entry_id for entry_id, _ in messages} | {*await forgetting.entries_from(places)}
        cut = {key[0] for key in self._cut["entry"]} - gone
        cut_places = {place for _, place in await forgetting.list_sources(cut) if place is not None}
        for place in cut_places:
            self._messages.pop(place, None)
        cut_places |= {(key[0], key[1]) for key in self._cut["resource"]}
        found = await find_cuts(transaction, topic, cut_places - places)
        claims = {key[0] for key in self._spoken["claim"]} | {*await forgetting.claims_from(places)}
        claims |= {*found.claims}
        places |= found.cuts.keys()
        self._counted.update(entry=len(gone) + len(cut), resource=len(places), claim=len(claims))
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
            entries = await transaction.entries.select(entry_ids[start : start + _BATCH])
            self._items += map(_entry_item, entries.values())
            for entry in entries.values():
                self._messages.pop((entry.session_id or "", entry.source_id or ""), None)


def _entry_item(entry: Entry) -> ForgottenItem:
    return ForgottenItem(kind="entry", id=entry.id, text=entry.content, at=entry.at)


def _fact_item(fact: Fact) -> ForgottenItem:
    text = f"{fact.subject} {fact.predicate} {fact.object}"
    return ForgottenItem(kind="fact", id=fact.id, text=text, at=fact.valid_from)
