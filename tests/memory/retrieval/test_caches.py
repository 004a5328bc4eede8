"""Caches by bytes and revision: the least recently used go first, and nothing older than what is known comes back."""

from mnestic.memory.retrieval.caches import CacheScope, LRUCache, RetrievalCaches

ADA = CacheScope("1/1/5", "t", "ada")
BEA = CacheScope("1/1/5", "t", "bea")
ROOM = 10_000  # for three values of this size, not for four
LARGE = b"x" * 2_900


def test_a_value_comes_back_at_its_revision_alone() -> None:
    cache = LRUCache(ROOM)
    cache.put(ADA, "k", b"seven", revision=7)

    assert cache.get(ADA, "k", revision=7) == b"seven"
    assert cache.get(ADA, "k", revision=6) is None  # by whoever began before
    assert cache.get(ADA, "k", revision=7) == b"seven"
    assert cache.get(ADA, "other", revision=7) is None
    counts = cache.counts()
    assert (counts.hits, counts.misses, counts.items) == (2, 2, 1)
    assert counts.hit_rate == 0.5


def test_a_newer_revision_drops_all_of_the_older_and_of_nobody_else() -> None:
    cache = LRUCache(ROOM)
    for key in "ab":
        cache.put(ADA, key, b"old", revision=7)
    cache.put(BEA, "a", b"hers", revision=1)

    assert cache.get(ADA, "a", revision=8) is None
    assert cache.counts().items == 1
    assert cache.get(ADA, "b", revision=7) is None
    assert cache.get(BEA, "a", revision=1) == b"hers"


def test_a_newer_value_drops_all_of_the_older_and_an_older_one_is_refused() -> None:
    cache = LRUCache(ROOM)
    cache.put(ADA, "a", b"old", revision=7)
    cache.put(ADA, "b", b"new", revision=8)

    cache.put(ADA, "a", b"late", revision=7)

    assert cache.get(ADA, "b", revision=8) == b"new"
    assert cache.get(ADA, "a", revision=8) is None
    assert cache.counts().items == 1


def test_the_least_recently_used_goes_first() -> None:
    cache = LRUCache(ROOM)
    for key in "abc":
        cache.put(ADA, key, LARGE, revision=1)
    cache.get(ADA, "a", revision=1)

    cache.put(BEA, "d", LARGE, revision=1)

    assert cache.get(ADA, "b", revision=1) is None
    assert cache.get(ADA, "a", revision=1) == cache.get(BEA, "d", revision=1) == LARGE
    assert cache.counts().items == 3
    assert cache.counts().bytes <= ROOM


def test_bytes_are_those_of_what_is_held() -> None:
    cache = LRUCache(ROOM)
    cache.put(ADA, "a", b"x" * 1000, revision=1)
    one = cache.counts().bytes
    cache.put(ADA, "a", b"x" * 1500, revision=1)
    again = cache.counts().bytes

    cache.get(ADA, "a", revision=2)

    assert again - one == 500
    assert one > 1000
    assert (cache.counts().bytes, cache.counts().items) == (0, 0)


def test_a_value_that_is_too_large_or_without_room_is_not_cached() -> None:
    cache, nothing = LRUCache(ROOM), LRUCache(0)
    cache.put(ADA, "a", b"small", revision=1)
    cache.put(ADA, "b", b"x" * (ROOM + 1), revision=1)
    nothing.put(ADA, "a", b"", revision=1)

    assert cache.get(ADA, "a", revision=1) == b"small"
    assert cache.get(ADA, "b", revision=1) is None
    assert nothing.get(ADA, "a", revision=1) is None
    assert nothing.counts().items == 0


def test_scopes_that_differ_in_one_part_do_not_meet() -> None:
    cache = LRUCache(ROOM)
    cache.put(ADA, "k", b"hers", revision=1)

    others = [ADA._replace(**{part: "another"}) for part in CacheScope._fields]

    assert [cache.get(other, "k", revision=1) for other in others] == [None] * len(
        CacheScope._fields
    )
    assert cache.get(ADA, "k", revision=1) == b"hers"
    assert cache.counts("t").misses == len(others) - 1  # in their own tenant another was looked for
    assert cache.counts("another").bytes == 0 < cache.counts("t").bytes == cache.counts().bytes


def test_the_caches_of_a_process_share_its_bytes() -> None:
    caches = RetrievalCaches.of(4 * ROOM)
    for number in range(100):
        for cache in caches:
            cache.put(ADA, str(number), LARGE, revision=1)

    counts = caches.counts()

    assert counts.answers.bytes + counts.vectors.bytes <= 4 * ROOM
    assert counts.answers.items > counts.vectors.items > 0
