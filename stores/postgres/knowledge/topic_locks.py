"""Locks of topics: claims of one topic are worked out by one transaction at a time.

Whoever changes a predicate waits for those who use predicates, and they for it.
"""

import hashlib
from collections.abc import Iterable

from mnestic.stores.postgres.knowledge.fact_reader import Topic
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LOCKS = 1024  # of an agent, which its topics share: Postgres has room for some thousands in all
_LOCK, _SHARE = read_query("topic_locks.lock"), read_query("topic_locks.share")


class TopicLocks:
    """The locks of a transaction, which end with it."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def share_predicates(self) -> None:
        """Waits until nobody changes a predicate, and keeps others from it."""
        await self._unit.fetch(_SHARE, key=self._key("predicates"))

    async def change_predicates(self) -> None:
        """Waits until nobody uses predicates, and keeps others from it."""
        await self._unit.fetch(_LOCK, keys=[self._key("predicates")])

    async def lock(self, topics: Iterable[Topic]) -> None:
        """Locks topics, in one order for everybody, so that nobody waits for somebody who waits."""
        numbers = {self._key(*topic) % _LOCKS for topic in topics}
        keys = sorted(self._key(self._unit.agent_id, str(number)) for number in numbers)
        await self._unit.fetch(_LOCK, keys=keys)

    def _key(self, *parts: str) -> int:
        name = "\x1f".join(("fact", self._unit.tenant_id, *parts))
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
