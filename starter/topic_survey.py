"""What speaks of a topic, found without a change: what forgetting it would remove, and what it leaves.

It stands apart from the client, which shows it before, and tells what was left afterwards.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from mnestic.activities.running_jobs import RunningJobs
from mnestic.activities.topic_rows import (
    COPIES,
    KNOWLEDGE,
    SHARED,
    TRACES,
    Begin,
    SpokenRow,
    each_page,
    make_topic,
)
from mnestic.memory.forgetting import LeftOver
from mnestic.memory.forgetting_ports import Place
from mnestic.memory.ports import Transaction
from mnestic.memory.topics import Topic


class TopicSurvey:
    """Goes through all tables once."""

    def __init__(self, begin: Begin, *, running: RunningJobs) -> None:
        """Prepares it.

        Args:
            begin: Begins a transaction of the agent that reads.
            running: Whose memory is left as it is.
        """
        self.entries: tuple[str, ...] = ()
        self._begin, self._running = begin, running
        self._counted: Counter[str] = Counter()
        self._left: dict[tuple[str, str], LeftOver] = {}
        self._spoken: dict[str, set[tuple[str, ...]]] = {table: set() for table in KNOWLEDGE}

    @property
    def left(self) -> tuple[LeftOver, ...]:
        """What is left as it is, each once."""
        return tuple(self._left[name] for name in sorted(self._left))

    @property
    def purged(self) -> dict[str, int]:
        """How many rows would be removed or redacted, by table."""
        return {table: number for table, number in sorted(self._counted.items()) if number}

    async def run(self, text: str, *, entries: Sequence[str]) -> None:
        """Looks for what speaks of a topic.

        Args:
            text: The topic.
            entries: Those that are about it without having its words.

        Raises:
            InvalidInputError: it has no words that mean something.
            TemporalUnavailableError: Temporal does not answer.
        """
        async with self._begin() as transaction:
            topic = await make_topic(transaction, text, entries=tuple(entries))
        for table in (*COPIES, *KNOWLEDGE, *TRACES, *SHARED):
            await self._look(table, topic)
        async with self._begin() as transaction:
            await self._follow(transaction, entries)

    async def _look(self, table: str, topic: Topic) -> None:
        async def keep(_: Transaction, spoken: Sequence[SpokenRow]) -> None:
            for one in spoken:
                if one.left is not None:
                    self._left[one.left.kind, one.left.name] = one.left
                elif one.takes_others or table == "learning":
                    self._spoken[table].add(one.row.key)
                else:
                    self._counted[table] += 1

        await each_page(self._begin, table, topic, running=self._running, lock=False, deal=keep)

    async def _follow(self, transaction: Transaction, entries: Collection[str]) -> None:
        """What goes with entries and messages: each with the other, and what was learned from them."""
        forgetting = transaction.forgetting
        spoken = {*entries, *(key[0] for key in self._spoken["entry"])}
        messages = await forgetting.places_of(spoken)
        places: set[Place] = {place for _, place in messages if place is not None}
        places |= {(key[0], key[1]) for key in self._spoken["resource"]}
        gone = {entry_id for entry_id, _ in messages} | {*await forgetting.entries_from(places)}
        claims = {key[0] for key in self._spoken["claim"]} | {*await forgetting.claims_from(places)}
        self.entries = tuple(sorted(gone))
        self._counted.update(entry=len(gone), resource=len(places), claim=len(claims))
        self._counted["fact"] = len(await forgetting.facts_of(claims))
        self._counted["learning"] = len(self._spoken["learning"] - places)
        self._counted.update(await forgetting.count_links(gone))
