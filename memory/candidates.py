"""Candidates: entries that sources brought for a question, and the question, as far as scores need both.

They stand apart from ranking, as stores make candidates, and ranking weighs them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from mnestic.memory.dates import Period
from mnestic.memory.retrieval import Mode

Tie = Literal["beside", "near", "related"]
Ties = Mapping[int, Sequence[tuple[int, Tie]]]
Concern = Literal["named", "mentioned", "apart", "open", "other"]
CONCERNS: tuple[Concern, ...] = get_args(Concern)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """An entry that a source brought, as far as its score needs it.

    `words` is its BM25 for the question, `lexemes` a bit for each word of the question that it has,
    `cosine` how near its meaning is, `learned` the share of the question that what was learned from it
    answers, `alike` how near its words come to those of the question that it lacks; `terms` tells the words that
    it begins with. `is_turn` is what was said in a conversation, whose place in it
    counts. `concern`: whether the question names who said it or whom it is about, somebody who is mentioned
    in what another said, one of several apart from the others, nobody, or somebody else. `persons` has a bit for each
    of several between whom something is asked for.
    """

    number: int
    entry_id: str
    at: datetime
    session_id: str | None = None
    is_turn: bool = False
    asks: bool = False
    names_time: bool = False
    times: tuple[tuple[datetime, datetime], ...] = ()
    concern: Concern = "open"
    persons: int = 0
    is_said: bool = False
    is_tagged: bool = False
    importance: float = 0.5
    words: float = 0.0
    lexemes: int = 0
    cosine: float = 0.0
    learned: float = 0.0
    alike: float = 0.0
    terms: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, as far as scores need it: `weights` is how telling each of its words is."""

    asked_at: datetime
    weights: Sequence[float] = ()
    names: Sequence[str] = ()
    period: Period | None = None
    asks_when: bool = False
    mode: Mode = "hybrid"
