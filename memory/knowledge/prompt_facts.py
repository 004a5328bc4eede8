"""Facts and memories in prompts, quoted as data that somebody else wrote.

Text in memory comes from anybody. Whatever it says, it has to reach a model as a quotation that it cannot close.
"""

from collections.abc import Iterable
from datetime import datetime

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.world.histories import FactVersion
from mnestic.memory.quotations import quoted, quoted_block


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
