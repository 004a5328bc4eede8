"""Learning: stores the claims of messages, has facts follow from them, and enriches their entries.

All of it is one transaction, whatever takes the messages.
"""

from collections.abc import Mapping, Sequence

from mnestic.activities.knowledge.namesakes import with_namesakes_apart
from mnestic.activities.knowledge.receiving import remove_excluded
from mnestic.activities.knowledge.subjects import adopt_named_facts
from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.enrichment import (
    effective_claims,
    enriched_entry,
)
from mnestic.memory.knowledge.entries import Replacements
from mnestic.memory.knowledge.facts import FactChange
from mnestic.memory.knowledge.ingestion import IncomingMessage, entry_id_at
from mnestic.memory.knowledge.relations import Place, related_messages
from mnestic.memory.ports import Transaction

_CIRCUMSTANCES = {"source": {"job_id", "workflow_run"}}  # of a claim; they are not what it says


async def learn_from(
    transaction: Transaction,
    batch: Sequence[IncomingMessage],
    *,
    owner: str,
    workflow_run: str | None,
) -> None:
    """Learns from messages; what they claimed before, and do not claim now, is replaced.

    Args:
        transaction: It has taken the messages, under the lock of the agent's ingestion.
        batch: The messages.
        owner: Tenant and agent, for the ids of entries.
        workflow_run: Stands in the claims.
    """
    if not batch:
        return
    claims = await _claims_of(transaction, batch, workflow_run=workflow_run)
    stored = await transaction.facts.list_claims_from(claims)
    replaced = {place: _replaced(stored.get(place, ()), each) for place, each in claims.items()}
    changes = await transaction.facts.claim(
        [claim for each in claims.values() for claim in each],
        replaced=[claim for each in replaced.values() for claim in each],
    )
    await adopt_named_facts(transaction, changes)
    replaces = {
        pending.place: tuple(
            (entry_id_at(one.place, owner=owner), one.why) for one in pending.replaces
        )
        for pending in batch
    }
    await _enrich(
        transaction, claims, replaced=replaced, changes=changes, replaces=replaces, owner=owner
    )
    await transaction.ingest_states.mark_learned(batch)


async def _claims_of(
    transaction: Transaction, batch: Sequence[IncomingMessage], *, workflow_run: str | None
) -> dict[Place, list[Claim]]:
    """What messages claim, without what is kept out."""
    batch = await with_namesakes_apart(transaction, batch)
    claimed = {pending.place: pending.claims(workflow_run=workflow_run) for pending in batch}
    allowed = await remove_excluded(
        transaction, [claim for each in claimed.values() for claim in each]
    )
    ids = {claim.id for claim in allowed}
    return {place: [claim for claim in each if claim.id in ids] for place, each in claimed.items()}


def _replaced(stored: Sequence[Claim], claims: Sequence[Claim]) -> list[Claim]:
    """The stored claims of a message that it does not make, or makes otherwise."""
    made = {claim.id: claim.model_dump(exclude=_CIRCUMSTANCES) for claim in claims}
    return [one for one in stored if made.get(one.id) != one.model_dump(exclude=_CIRCUMSTANCES)]


async def _enrich(
    transaction: Transaction,
    claims: Mapping[Place, Sequence[Claim]],
    *,
    replaced: Mapping[Place, Sequence[Claim]],
    changes: Sequence[FactChange],
    replaces: Mapping[Place, Replacements],
    owner: str,
) -> None:
    """Writes what follows from claims into the entries of messages, and of later ones that speak of the same."""
    all_claims = [claim for each in claims.values() for claim in each]
    predicates = await transaction.facts.get_predicates({claim.predicate for claim in all_claims})
    learned = {place for place, each in claims.items() if each or replaced[place]}
    mentions = await transaction.facts.list_mentions(
        {(claim.subject, claim.predicate) for claim in all_claims}
    )
    related = related_messages(mentions, predicates=predicates, learned=learned)
    places = {entry_id_at(place, owner=owner): place for place in replaces.keys() | related.keys()}
    entries = await transaction.entries.select(sorted(places), lock=True)
    earlier = {
        entry.id: {
            *entry.related,
            *(entry_id_at(one.place, owner=owner) for one in related.get(places[entry.id], ())),
        }
        for entry in entries.values()
    }
    times = await transaction.entries.select_times(set().union(*earlier.values()))
    children = await transaction.entries.count_children(entries.keys())
    basis = await transaction.settings.importance_basis()
    await transaction.entries.change(
        [
            enriched_entry(
                entry,
                effective_claims(claims.get(places[entry.id], ()), changes),
                replaced=replaced.get(places[entry.id], ()),
                replaces=replaces.get(places[entry.id]),
                predicates=predicates,
                related={name: times[name] for name in earlier[entry.id] & times.keys()},
                children=children[entry.id],
                basis=basis,
            )
            for entry in entries.values()
        ]
    )
