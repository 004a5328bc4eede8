"""Corrections across messages: reads what the same person said just before a message that corrects.

It stands apart from learning because few messages need it. What a message corrects follows from the claims of the messages
right before it in its session, whatever else is believed, so it does not depend on the order in which messages arrive.
Where these claim nothing, it follows from their words.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from mnestic.activities.knowledge.receiving import remove_excluded
from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.corrections.corrected_texts import corrects_text
from mnestic.memory.knowledge.corrections.correcting_claims import correcting_claims
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.ingestion import CONTEXT_MESSAGES, PendingMessage, contexts_of
from mnestic.memory.knowledge.predicates import Predicate
from mnestic.memory.knowledge.relations import Place
from mnestic.memory.knowledge.resolution import resolve
from mnestic.memory.ports import Transaction

_OWN = 2  # messages of the same person that a correction may mean
_RECENT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Corrections:
    """What messages correct, by session and source id: `claims` beside their own, or the messages that they put right."""

    claims: dict[Place, list[Claim]] = field(default_factory=dict)
    messages: dict[Place, Place] = field(default_factory=dict)


async def find_corrections(
    transaction: Transaction,
    batch: Sequence[PendingMessage],
    claims: Mapping[Place, Sequence[Claim]],
    *,
    workflow_run: str | None,
) -> Corrections:
    """What messages correct of the same person's last messages.

    Args:
        transaction: It reads the claims of earlier messages.
        batch: The messages.
        claims: Their own claims.
        workflow_run: Stands in the claims.
    """
    correcting = sorted((one for one in batch if one.may_correct), key=lambda one: one.order)
    if not correcting:
        return Corrections()
    before = await transaction.ingest_states.list_around(correcting, before=CONTEXT_MESSAGES)
    contexts = contexts_of(correcting, before)
    stored = await transaction.facts.list_claims_from({one.place for one in before} - claims.keys())
    known = {**stored, **claims}
    predicates = await transaction.facts.get_predicates(
        {claim.predicate for each in known.values() for claim in each}
    )
    found = Corrections()
    for pending in correcting:
        context = contexts[pending.place]
        facts = _active_facts(
            (claim for one in context for claim in known.get(one.place, ())), predicates
        )
        own = _own_messages(pending, context)
        extracted = correcting_claims(
            pending.resource.content,
            pending.extracted,
            said=[_facts_from(known.get(one.place, ()), facts) for one in own],
            is_next=bool(own) and own[0] == context[-1],
        )
        if extracted:
            corrects = pending.model_copy(update={"extracted": extracted})
            made = await remove_excluded(transaction, corrects.claims(workflow_run=workflow_run))
            found.claims[pending.place] = made
            known[pending.place] = [*known[pending.place], *made]
        elif not known[pending.place] and pending.entry_type == "interaction":
            silent = [one for one in own if not known.get(one.place)]
            if (wrong := _corrected_message(pending, silent, own)) is not None:
                found.messages[pending.place] = wrong.place
    return found


def _corrected_message(
    pending: PendingMessage, silent: Sequence[PendingMessage], own: Sequence[PendingMessage]
) -> PendingMessage | None:
    """The one of the person's last messages, of which nothing was learned, that a message puts right by its words."""
    text = pending.resource.content
    return next(
        (one for one in silent if corrects_text(text, one.resource.content, is_next=one == own[0])),
        None,
    )


def _own_messages(
    pending: PendingMessage, context: Sequence[PendingMessage]
) -> list[PendingMessage]:
    """The person's last messages before one, the latest first."""
    message = pending.resource
    return [
        one
        for one in reversed(context)
        if one.resource.speaker == message.speaker and message.at - one.resource.at <= _RECENT
    ][:_OWN]


def _active_facts(claims: Iterable[Claim], predicates: Mapping[str, Predicate]) -> list[Fact]:
    """What is believed by these claims alone."""
    topics: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        topics[name_key(claim.subject), claim.predicate].append(claim)
    facts = [
        fact
        for (_, predicate), each in topics.items()
        for fact in resolve(each, owner="", predicate=predicates[predicate])
        if fact.status == "active"
    ]
    return sorted(facts, key=lambda fact: fact.id)


def _facts_from(claims: Sequence[Claim], facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts that follow from some of these claims."""
    ids = {claim.id for claim in claims}
    return tuple(fact for fact in facts if ids.intersection(fact.claims))
