"""Candidates written out for tests, one by one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from mnestic.memory.retrieval.candidates import PERSON_MATCHES, ROW, Candidates, PersonMatch


@dataclass(kw_only=True)
class Sample:
    """One candidate, by the names of `ROW`."""

    number: int
    at: datetime
    session_id: str | None = None
    person_match: PersonMatch = "open"
    importance: float = 0.5
    is_turn: bool = False
    asks: bool = False
    is_by_named_speaker: bool = False
    is_tagged: bool = False
    is_superseded: bool = False
    words: float = 0.0
    lexemes: int = 0
    cosine: float = 0.0
    late_interaction: float = 0.0
    identity: int = 0
    times: tuple[tuple[datetime, datetime], ...] = ()
    said: tuple[str, ...] = ()
    content: str = ""
    tokens: bytes | None = None
    speaker: str = ""
    subjects: frozenset[str] = frozenset()

    @property
    def entry_id(self) -> str:
        return str(self.number)

    def terms(self) -> tuple[str, ...]:
        return self.said


def candidates(samples: Iterable[Sample]) -> Candidates:
    """What a store makes of entries."""
    texts = list(samples)
    rows = np.zeros(len(texts), ROW)
    made: dict[str, Any] = {
        "at": lambda one: one.at.timestamp(),
        "names_time": lambda one: bool(one.times),
        "person_match": lambda one: PERSON_MATCHES.index(one.person_match),
    }
    for name in ROW.names or ():
        rows[name] = [made[name](one) if name in made else getattr(one, name) for one in texts]
    return Candidates(rows, texts)
