"""What the caches of a process hold, and how often that was of use."""

from pydantic import BaseModel, ConfigDict

CACHE_BYTES = 256 * 2**20  # of a process, unless it is told otherwise or has much memory


class CacheCount(BaseModel):
    """Of one cache, since the process began: what was found there, what was not, and what it holds."""

    model_config = ConfigDict(frozen=True)

    hits: int = 0
    misses: int = 0
    held: int = 0
    bytes: int = 0

    @property
    def hit_rate(self) -> float:
        """The share that was found, 0 to 1; 0 before anything was looked for."""
        return self.hits / (self.hits + self.misses) if self.hits else 0.0


class CacheCounts(BaseModel):
    """Of the caches of entries, of their vectors, of where they are and which words they have, and of answers to questions.

    Vectors are of use where a question finds all of an agent's at once, and so are words, with names, times and claims.
    """

    model_config = ConfigDict(frozen=True)

    entries: CacheCount
    vectors: CacheCount
    words: CacheCount
    answers: CacheCount

    @property
    def is_of_use(self) -> bool:
        """Whether anything was looked for."""
        each = (self.entries, self.vectors, self.words, self.answers)
        return any(one.hits + one.misses for one in each)
