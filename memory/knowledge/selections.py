"""Which facts a job asks for, and which it waits for."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.predicates import PredicateName
from mnestic.memory.validation import Name

FACT = "fact"  # the outcome of a wait that a fact has ended


class KnowledgeSelection(DeferredModel):
    """Facts that are believed now, by subject, by predicate, or both; all of them without either."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    subjects: tuple[Name, ...] = ()
    predicates: tuple[PredicateName, ...] = ()
    limit: int = Field(50, ge=1, le=500)


class FactCondition(DeferredModel):
    """Which fact a job waits for: an active one that holds, about a subject, of a predicate, maybe of one object."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    outcome: ClassVar[str] = FACT

    subject: Name
    predicate: PredicateName
    object: Name | None = None
