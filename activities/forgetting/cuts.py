"""Cutting messages and entries: the sentences that speak of a topic go, with the claims that stand in them.

What is shown before must come to the same.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mnestic.memory.forgetting.cuts import SentenceCut
from mnestic.memory.forgetting.ports import Place
from mnestic.memory.forgetting.redaction import redaction_of
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.enrichment import changed_entry
from mnestic.memory.knowledge.entries import Entry, EntryChange
from mnestic.memory.ports import Transaction


@dataclass(frozen=True, kw_only=True)
class MessageCuts:
    """What goes out of messages, by their places, and the claims that nothing is left of."""

    cuts: Mapping[Place, SentenceCut]
    claims: tuple[str, ...]


async def find_cuts(
    transaction: Transaction, topic: Topic, places: Collection[Place]
) -> MessageCuts:
    """What goes out of messages that speak of a topic, themselves or by their entries."""
    contents, spans = await learn_claims(transaction, topic, places)
    words = {word for content in contents.values() for word in topic.unlearned(content)}
    topic.learn(await transaction.forgetting.stems(words))
    cuts = {place: topic.cut(content) for place, content in contents.items()}
    cuts = {place: cut for place, cut in cuts.items() if cut.gone}
    gone = [
        claim for claim, place, span in spans if place in cuts and not cuts[place].contains(span)
    ]
    return MessageCuts(cuts=cuts, claims=tuple(gone))


async def learn_claims(
    transaction: Transaction, topic: Topic, places: Collection[Place]
) -> tuple[dict[Place, str], tuple[tuple[str, Place, Span | None], ...]]:
    """Lets a topic know where in messages claims stand; returns the messages, and the claims."""
    contents = await transaction.forgetting.contents_of(places)
    claims = await transaction.forgetting.spans_from(contents)
    quoted: defaultdict[str, list[Span]] = defaultdict(list)
    for _, place, span in claims:
        if span is not None:
            quoted[contents[place]].append(span)
    topic.learn_claims(quoted)
    return contents, claims


async def cut_messages(
    transaction: Transaction, topic: Topic, places: Collection[Place], *, forgetting_id: str
) -> dict[str, int]:
    """Cuts messages, and has facts follow from what is left; returns how many rows that were, by table.

    A message of which nothing is left is emptied. One that was not learned from yet is read anew.
    """
    forgetting = transaction.forgetting
    found = await find_cuts(transaction, topic, places)
    empty = [place for place, cut in found.cuts.items() if not cut.left]
    left = {place: cut.blanked for place, cut in found.cuts.items() if cut.left}
    emptied = await forgetting.forget_messages(forgetting_id, empty)
    cut = await forgetting.cut_messages(forgetting_id, left)
    facts = await transaction.facts.forget(found.claims, forgetting_id=forgetting_id)
    return {"resource": emptied + cut, "claim": len(found.claims), "fact": len(facts)}


async def cut_entries(
    transaction: Transaction, topic: Topic, entry_ids: Collection[str]
) -> dict[str, int]:
    """Cuts entries, which lose their vectors until they are given new ones; returns how many of each."""
    entries = await transaction.entries.select(sorted(entry_ids), lock=True)
    vectors = (await transaction.forgetting.count_links(entries))["embedding"]
    changed = await _changed(transaction, topic, entries)
    await transaction.entries.change(changed)
    return {"entry": len(changed), "embedding": vectors}


async def cut_archived(
    transaction: Transaction, topic: Topic, entry_ids: Collection[str]
) -> dict[str, int]:
    """Cuts archived entries, which get new vectors only once they are restored; returns how many there were."""
    entries = await transaction.archive.select(entry_ids, lock=True)
    changed = await _changed(transaction, topic, entries)
    await transaction.archive.change(changed)
    return {"archived_entry": len(changed)}


async def _changed(
    transaction: Transaction, topic: Topic, entries: Mapping[str, Entry]
) -> list[Entry]:
    """Entries without the sentences that speak of a topic."""
    children = await transaction.entries.count_children(entries)
    basis = await transaction.settings.importance_basis()
    return [
        changed_entry(entry, change, children=children[entry.id], basis=basis)
        for entry in entries.values()
        if (change := _change(entry, topic)) is not None
    ]


def _change(entry: Entry, topic: Topic) -> EntryChange | None:
    redaction = redaction_of("entry", entry.model_dump(), topic)
    if redaction is None or "content" not in redaction.values:
        return None
    left = redaction.values
    return EntryChange.model_construct(  # what is stored is not checked again
        content=left["content"],
        subjects=tuple(left["subjects"]),
        tags=tuple(left["tags"]),
        aliases=tuple(left["aliases"]),
    )
