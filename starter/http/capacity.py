"""Capacity: how many requests are answered at once, of one key or address and of all.

Places are kept for those who have a key: whoever has none takes only what is set aside for that.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.exceptions import HTTPException

_RETRY = {"Retry-After": "1"}


@dataclass(slots=True)
class Capacity:
    """Places for requests: so many in all, and of them so many for one who asks."""

    places: int
    for_each: int
    taken: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def place(self, asker: str) -> Iterator[None]:
        """Takes a place for a block.

        Raises:
            HTTPException: there is none left, of all or of the asker's.
        """
        if self.taken.total() >= self.places or self.taken[asker] >= self.for_each:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests", _RETRY)
        self.taken[asker] += 1
        try:
            yield
        finally:
            self.taken[asker] -= 1
            if not self.taken[asker]:
                del self.taken[asker]
