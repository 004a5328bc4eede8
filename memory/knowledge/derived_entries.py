"""Derived entries: what makes facts, episodes and compressed entries searchable, in the same index as messages.

Nobody writes them: they follow from a fact or an episode, have its id, and go when it goes. A compressed one follows
from archived entries.
"""

from collections.abc import Sequence
from datetime import datetime

from mnestic.memory.knowledge.enrichment import with_importance
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.importance import ImportanceBasis
from mnestic.memory.knowledge.predicate_sentences import sentence_of
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.memory.language.sentences import cut_text, split_sentences
from mnestic.memory.packing import key_of

LONGEST_EPISODE = 10_000  # characters of a summary that are searched
_SUMMARY_CHARS = 200


def entry_of_fact(fact: Fact, *, basis: ImportanceBasis) -> Entry:
    """The entry of a fact that no message states: its sentence, found until the fact ends.

    Args:
        fact: An active fact.
        basis: What importance is measured by; its time says whether the fact is yet to begin.
    """
    sentence = sentence_of(fact, now=basis.now)
    entry = Entry(
        id=fact.id,
        kind="fact",
        entry_type="knowledge",
        content=sentence,
        summary=cut_text(sentence, _SUMMARY_CHARS),
        subjects=(fact.subject,),
        tags=(fact.category,),
        aliases=(fact.object,) if fact.predicate in NAMING else (),
        at=fact.valid_from,
        expires_at=fact.valid_to,
    )
    return with_importance(entry, basis=basis)


def entry_of_episode(
    episode_id: str,
    summary: str,
    *,
    session_id: str | None,
    at: datetime,
    basis: ImportanceBasis,
) -> Entry | None:
    """The entry of an episode; None if its summary says nothing."""
    if not summary.strip():
        return None
    entry = Entry(
        id=episode_id,
        kind="episode",
        entry_type="context",
        content=cut_text(summary, LONGEST_EPISODE),
        summary=cut_text(summary, _SUMMARY_CHARS),
        session_id=session_id,
        at=at,
    )
    return with_importance(entry, basis=basis)


def entry_of_sources(entry_id: str, sources: Sequence[Entry], *, basis: ImportanceBasis) -> Entry:
    """The entry that archived ones were compressed into: it quotes them, in the order of time, and no sentence twice.

    Args:
        entry_id: Its id, which the sources name.
        sources: At least one, of one type, speaker and channel, and with the same names.
        basis: What importance is measured by.
    """
    in_order = sorted(sources, key=lambda one: (one.at, one.id))
    last, content = in_order[-1], quoted_sentences([one.content for one in in_order])
    entry = Entry(
        id=entry_id,
        kind="compressed",
        entry_type=last.entry_type,
        content=content,
        summary=cut_text(content, _SUMMARY_CHARS),
        channel=last.channel,
        speaker=last.speaker,
        subjects=last.subjects,
        keywords=tuple(dict.fromkeys(word for one in in_order for word in one.keywords)),
        tags=last.tags,
        aliases=last.aliases,
        times=tuple(dict.fromkeys(time for one in in_order for time in one.times)),
        access_count=sum(one.access_count for one in in_order),
        last_accessed=max(
            (one.last_accessed for one in in_order if one.last_accessed), default=None
        ),
        at=last.at,
    )
    return with_importance(entry, basis=basis)


def quoted_sentences(texts: Sequence[str]) -> str:
    """The sentences of texts, each text on a line of its own, without those that an earlier one has in the same words."""
    known: set[str] = set()
    lines = []
    for text in texts:
        new = [one for one in split_sentences(text) if key_of(one) not in known]
        known.update(map(key_of, new))
        lines.append(" ".join(new))
    return "\n".join(filter(None, lines))
