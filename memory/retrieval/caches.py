"""The caches of retrieval: answers to queries and vectors of queries, each bounded by bytes.

They live as long as the process. What they hold is true at one revision of an agent's memory, in one database; what was
cached at another is dropped with the agent's next query.
"""

from collections import Counter, OrderedDict, defaultdict
from typing import NamedTuple, Self

from pydantic import ConfigDict, computed_field

from mnestic.memory.deferred_model import DeferredModel

CACHE_BYTES = 256 * 2**20  # of a process, unless it is set or the machine has much memory
_VECTORS = 0.25  # share of them that vectors of queries may take
_ITEM_BYTES = 300  # of an item beside its key and value


class CacheScope(NamedTuple):
    """Whose memory something was cached of: the database, by its identifier and timeline, tenant, agent, and who reads."""

    database: str
    tenant_id: str
    agent_id: str
    reader: str | None = None


class CacheCount(DeferredModel):
    """Of one cache, since the process began: what was found there, what was not, and what it holds; of a tenant or of all."""

    model_config = ConfigDict(frozen=True)

    hits: int = 0
    misses: int = 0
    items: int = 0
    bytes: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def hit_rate(self) -> float:
        """The share that was found, 0 to 1; 0 before anything was looked for."""
        return self.hits / (self.hits + self.misses) if self.hits else 0.0


class CacheCounts(DeferredModel):
    """Of the caches of answers to queries and of vectors of queries."""

    model_config = ConfigDict(frozen=True)

    answers: CacheCount
    vectors: CacheCount

    @property
    def is_of_use(self) -> bool:
        """Whether anything was looked for."""
        return any(one.hits + one.misses for one in (self.answers, self.vectors))


class LRUCache:
    """Bytes by scope and key, each true at a revision; the least recently used go first."""

    def __init__(self, max_bytes: int) -> None:
        """Prepares it.

        Args:
            max_bytes: What all items may take together; with 0 nothing is cached.
        """
        self._max_bytes, self._bytes = max_bytes, 0
        self._items: OrderedDict[tuple[CacheScope, str], bytes] = OrderedDict()
        self._scopes: dict[CacheScope, tuple[int, set[str]]] = {}  # with their revisions and keys
        self._counts = defaultdict[str, Counter[str]](Counter)  # of each tenant

    def get(self, scope: CacheScope, key: str, *, revision: int) -> bytes | None:
        """What was cached at this revision, or None."""
        cached_at, _ = self._scopes.get(scope, (revision, None))
        if cached_at < revision:
            self._drop(scope)
        found = self._items.get((scope, key)) if cached_at == revision else None
        self._counts[scope.tenant_id]["misses" if found is None else "hits"] += 1
        if found is not None:
            self._items.move_to_end((scope, key))
        return found

    def put(self, scope: CacheScope, key: str, value: bytes, *, revision: int) -> None:
        """Caches it, unless what is cached of its scope is newer."""
        cached_at, _ = self._scopes.get(scope, (revision, None))
        if cached_at > revision or _size(key, value) > self._max_bytes:
            return
        if cached_at < revision:
            self._drop(scope)
        self._remove(scope, key)
        self._scopes.setdefault(scope, (revision, set()))[1].add(key)
        self._items[scope, key] = value
        self._count(scope, items=1, bytes=_size(key, value))
        while self._bytes > self._max_bytes:
            self._remove(*next(iter(self._items)))

    def counts(self, tenant_id: str | None = None) -> CacheCount:
        """How many items are cached, of a tenant or of all, and how often that was of use."""
        every = self._counts.items()
        of = (counts for tenant, counts in every if tenant_id in {None, tenant})
        return CacheCount.model_validate(sum(of, Counter()))

    def _drop(self, scope: CacheScope) -> None:
        _, keys = self._scopes.get(scope, (0, set[str]()))
        for key in tuple(keys):
            self._remove(scope, key)

    def _remove(self, scope: CacheScope, key: str) -> None:
        value = self._items.pop((scope, key), None)
        if value is None:
            return
        self._count(scope, items=-1, bytes=-_size(key, value))
        _, keys = self._scopes[scope]
        keys.discard(key)
        if not keys:
            del self._scopes[scope]

    def _count(self, scope: CacheScope, **added: int) -> None:
        self._counts[scope.tenant_id].update(added)
        self._bytes += added["bytes"]


def _size(key: str, value: bytes) -> int:
    return _ITEM_BYTES + len(key) + len(value)


class RetrievalCaches(NamedTuple):
    """The caches of a process."""

    answers: LRUCache
    vectors: LRUCache

    @classmethod
    def of(cls, max_bytes: int) -> Self:
        """Caches that together take so many bytes at most."""
        of_vectors = int(_VECTORS * max_bytes)
        return cls(answers=LRUCache(max_bytes - of_vectors), vectors=LRUCache(of_vectors))

    def counts(self, tenant_id: str | None = None) -> CacheCounts:
        """What they hold of a tenant or of all, and how often that was of use."""
        return CacheCounts(
            answers=self.answers.counts(tenant_id), vectors=self.vectors.counts(tenant_id)
        )
