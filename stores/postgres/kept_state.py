"""What is known of the keeping of one agent's knowledge: under what it is kept, and what is worth reading again.

It stands apart from what is kept, since who changes things again and again is not to have all read again each time.
"""

import math
import time
from dataclasses import dataclass, field

_MOMENT = 5.0  # seconds
_MOST_WITHOUT = 100  # questions until what was claimed, or all words, are read again


@dataclass(slots=True)
class Again:
    """When something is read again that is read as a whole and true until something changes: more and more rarely.

    `without` is how many questions have been asked since it changed or was last read, `after` how many are to be.
    """

    without: int = 0
    after: int = 0
    is_too_large: bool = False

    @property
    def is_due(self) -> bool:
        """Whether it is worth reading."""
        return self.without >= self.after and not self.is_too_large

    def begin(self) -> None:
        """It is read, whether or not that is in vain, as something changes meanwhile."""
        self.without, self.after = 0, min(2 * self.after or 1, _MOST_WITHOUT)

    def change(self) -> None:
        """It is not known any more."""
        self.without = 0


@dataclass(slots=True)
class State:
    """Of an agent: under what its lines and vectors are kept, and the count of changes that they are true at.

    `asked` is how often it was asked for what is near in meaning since its vectors were read, `before` how often
    it must have been before they are read again. `missed` is how many lines and ties questions had to read since all
    lines were, which they have been so many `times`. `heard` is when a change was last heard of, by `time.monotonic`.
    """

    generation: int
    knowledge: int
    asked: int = field(default=0, compare=False)
    before: int = field(default=1, compare=False)
    missed: int = field(default=0, compare=False)
    times: int = field(default=0, compare=False)
    heard: float = field(default=-math.inf, compare=False)
    are_places_too_large: bool = field(default=False, compare=False)
    claims: Again = field(default_factory=Again, compare=False)
    words: Again = field(default_factory=Again, compare=False)

    @property
    def was_just_heard(self) -> bool:
        """Whether the count changed a moment ago, so that somebody may have read it before."""
        return time.monotonic() - self.heard < _MOMENT

    def hear(self, knowledge: int) -> None:
        """The count is another now."""
        self.knowledge, self.heard = knowledge, time.monotonic()
