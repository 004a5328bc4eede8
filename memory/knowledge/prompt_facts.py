"""Which facts a job asks for or waits for, and facts and memories in prompts, quoted as data that somebody else wrote.

Text in memory comes from anybody. Whatever it says, it has to reach a model as a quotation that it cannot close.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import PredicateName
from mnestic.memory.knowledge.world.histories import FactVersion
from mnestic.memory.quotations import quoted, quoted_block
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

    def __str__(self) -> str:
        """In words."""
        return f"the fact {self.subject} {self.predicate} {self.object or '…'}"


def quote_fact(fact: Fact) -> str:
    """A fact as one line of JSON, in which nothing can end the line or the quotation."""
    fields = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "since": f"{fact.valid_from:%Y-%m-%d}",
    }
    if fact.valid_to is not None:
        fields["until"] = f"{fact.valid_to:%Y-%m-%d}"
    return quoted(fields)


def quote_change(fact: FactVersion) -> str:
    """A fact of a history as one line: from when to when it was so, and why it is no longer."""
    fields = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "since": f"{fact.valid_from:%Y-%m-%d}",
        "until": fact.valid_to and f"{fact.valid_to:%Y-%m-%d}",
        "why": fact.reason,
    }
    return quoted({name: value for name, value in fields.items() if value is not None})


def quote_memory(
    content: str, *, by: str | None, channel: str | None, at: datetime, when: str, archived: bool
) -> str:
    """A memory as one line: who said it, where, on which day, when that is in words, and whether it is archived."""
    fields = {
        "memory": content,
        "by": by,
        "channel": channel,
        "date": f"{at:%Y-%m-%d}",
        "when": when,
        "archived": archived or None,
    }
    return quoted({name: value for name, value in fields.items() if value is not None})


def quote_facts(lines: Iterable[str]) -> str:
    """Facts, each as `quote_fact` gives it, as a prompt holds them."""
    return quoted_block("known", lines)
