"""Enrichment: which entry a message becomes, and what joins it once its claims are known.

It is pure. A message is an entry at once when it is received, so that it is found whatever is learned
from it; what needs no extractor is in it from the beginning.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.entries import Entry, EntryChange, EntryDraft, Replacements
from mnestic.memory.knowledge.facts import FactChange
from mnestic.memory.knowledge.importance import ImportanceBasis, importance
from mnestic.memory.knowledge.ingestion import IncomingMessage, entry_id_of
from mnestic.memory.knowledge.predicate_sentences import predicate_stems
from mnestic.memory.knowledge.predicates import NAMING, Predicate
from mnestic.memory.knowledge.relations import MOST_RELATED
from mnestic.memory.knowledge.time_mentions import times_of
from mnestic.memory.language.sentences import cut_text, split_sentences
from mnestic.memory.language.terms import terms_of

_SUMMARY_CHARS = 200
_KEYWORDS = 8
_LONGEST_KEYWORD = 64  # characters; what is longer is no word that anybody looks for


def entry_of(
    message: IncomingMessage,
    *,
    owner: str,
    basis: ImportanceBasis,
    children: int = 0,
) -> Entry:
    """The entry that a message becomes when it is received, before anybody asks what it claims.

    Args:
        message: It, and what it came with.
        owner: Whose entry it is, for its id.
        basis: What importance is measured by.
        children: How many entries belong to it.
    """
    resource = message.resource
    at, corrected, above = resource.local_at, message.corrects, message.attached_to
    speaker = (resource.speaker,) if message.kind == "message" else ()
    entry = Entry(
        id=entry_id_of(resource, owner=owner),
        entry_type=message.entry_type,
        content=resource.content,
        session_id=resource.session_id,
        source_id=resource.source_id,
        channel=resource.channel,
        speaker=resource.speaker,
        subjects=message.subjects or speaker,
        tags=message.tags,
        related=() if corrected is None else (message.entry_id(corrected, owner=owner),),
        parent=None if above is None else message.entry_id(above, owner=owner),
        at=at,
        **_described(resource.content, at=at),
    )
    return with_importance(entry, basis=basis, children=children)


def entry_of_draft(
    message: IncomingMessage,
    draft: EntryDraft,
    *,
    owner: str,
    basis: ImportanceBasis,
) -> Entry:
    """The entry that somebody adds, of the message that stores it.

    Args:
        message: It, as it is stored.
        draft: What is said of the entry beside its content.
        owner: Whose entry it is, for its id.
        basis: What importance is measured by.
    """
    changes = draft.model_dump(include={"tags", "aliases", "critical", "parent", "expires_at"})
    subjects = draft.subjects or ((draft.speaker,) if draft.speaker else ())
    entry = entry_of(message, owner=owner, basis=basis)
    entry = entry.model_copy(update=changes | {"subjects": subjects})
    return with_importance(entry, basis=basis)


def changed_entry(
    entry: Entry,
    change: EntryChange,
    *,
    basis: ImportanceBasis,
    children: int = 0,
) -> Entry:
    """An entry with a change, and with what follows from another content."""
    changed = entry.model_copy(update=change.model_dump(exclude_unset=True))
    if changed.content != entry.content:
        described = _described(changed.content, at=changed.at)
        changed = changed.model_copy(update={**described, "replaces": ()})
    return with_importance(changed, basis=basis, children=children)


def effective_claims(claims: Sequence[Claim], changes: Iterable[FactChange]) -> list[Claim]:
    """The claims of a message without ends of what was not known: words may end more than they are about.

    Args:
        claims: The claims of the message.
        changes: What all claims changed.
    """
    used = {one for change in changes if change.after for one in change.after.claims}
    return [claim for claim in claims if claim.kind != "ended" or claim.id in used]


def enriched_entry(
    entry: Entry,
    claims: Sequence[Claim],
    *,
    predicates: Mapping[str, Predicate],
    related: Mapping[str, datetime],
    basis: ImportanceBasis,
    children: int = 0,
    replaced: Sequence[Claim] = (),
    replaces: Replacements | None = None,
) -> Entry:
    """An entry with what follows from its claims; with the same claims once more it stays as it is.

    The words of their predicates are keywords, so that "I moved to Porto" is found by *live* too.

    Args:
        entry: The entry as it is.
        claims: What it claims; a name that it gives its subject is an alias.
        predicates: Those of the claims, by name: their categories are tags.
        related: Entries of messages that spoke of the same before it, and when; those that it names
            already are among them.
        basis: What importance is measured by.
        children: How many entries belong to it.
        replaced: What it was understood to claim before. It loses their subjects, except those whom its words name.
        replaces: The earlier entries that it replaces, and why; None if its message was not read anew.
    """
    content = entry.content.casefold()
    wrong = {claim.subject for claim in replaced if claim.subject.casefold() not in content}
    subjects = [name for name in entry.subjects if name not in wrong or name == entry.speaker]
    categories = sorted({predicates[claim.predicate].category for claim in claims})
    found = entry.model_copy(
        update={
            "subjects": _joined(subjects, (claim.subject for claim in claims)),
            "tags": _joined(entry.tags, categories),
            "aliases": _joined(entry.aliases, _names_in(claims)),
            "keywords": _joined(entry.keywords, _words_of(claims)),
            "related": _related(entry, related),
            "replaces": entry.replaces if replaces is None else replaces,
        }
    )
    return with_importance(found, basis=basis, children=children)


def _related(entry: Entry, related: Mapping[str, datetime]) -> tuple[str, ...]:
    """The latest of the entries that an entry is related to; of a correction, first what it corrects."""
    corrected = entry.related[:1] if entry.entry_type == "correction" else ()
    latest = sorted(related, key=lambda name: (related[name], name), reverse=True)
    return _joined(corrected, latest)[:MOST_RELATED]


def _names_in(claims: Sequence[Claim]) -> Iterable[str]:
    return (
        claim.object
        for claim in claims
        if claim.predicate in NAMING and claim.kind in {"affirmed", "corrected"} and claim.object
    )


def _words_of(claims: Sequence[Claim]) -> Iterable[str]:
    stated = {claim.predicate for claim in claims if claim.kind in {"affirmed", "corrected"}}
    return sorted(frozenset[str]().union(*map(predicate_stems, stated)))


def _described(content: str, *, at: datetime) -> dict[str, Any]:
    """What follows from the content of an entry alone, and when it was said."""
    return {
        "summary": _summary(content),
        "keywords": _keywords(content),
        "times": times_of(content, at=at),
    }


def with_importance(entry: Entry, *, basis: ImportanceBasis, children: int = 0) -> Entry:
    """An entry with the importance that it has by now."""
    weight = importance(entry, now=basis.now, children=children, policy=basis.policy)
    return entry.model_copy(update={"importance": weight})


def _joined(known: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *more]))


def _summary(text: str) -> str:
    """A short text itself; of a longer one, in their order, sentences that have most of the words that come again in it.

    If none comes again, or no sentence is short enough, it is the beginning.
    """
    if len(text) <= _SUMMARY_CHARS:
        return text.strip()
    counts = Counter(terms_of(text))
    again = frozenset(word for word, number in counts.items() if number > 1)
    left = [
        (sentence, again.intersection(terms_of(sentence))) for sentence in split_sentences(text)
    ]
    chosen: list[str] = []
    told: frozenset[str] = frozenset()
    while left := [one for one in left if len(" ".join([*chosen, one[0]])) <= _SUMMARY_CHARS]:
        best = max(left, key=lambda one: sum(counts[word] for word in one[1] - told))
        if best[1] <= told:
            break
        left.remove(best)
        chosen.append(best[0])
        told |= best[1]
    return " ".join(sorted(chosen, key=text.index)) or cut_text(text, _SUMMARY_CHARS)


def _keywords(text: str) -> tuple[str, ...]:
    """The telling words of a text, those that come most often first."""
    counts = Counter(word for word in terms_of(text) if len(word) <= _LONGEST_KEYWORD)
    return tuple(sorted(counts, key=counts.__getitem__, reverse=True)[:_KEYWORDS])
