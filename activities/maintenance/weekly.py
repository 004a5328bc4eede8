"""The weekly maintenance of an agent: facts that nobody mentions or uses lose confidence, and fade in the end."""

from collections import Counter
from datetime import datetime

from mnestic.activities.maintenance.compression import compress_entries
from mnestic.memory.knowledge.claims import MAINTENANCE, Claim, ClaimSource, make_id
from mnestic.memory.maintenance.policies import WeeklyPolicy
from mnestic.memory.maintenance.ports import FadingFact
from mnestic.memory.ports import Transaction

_FACTS = 500  # whose claims are added at once


async def maintain_weekly(
    transaction: Transaction,
    *,
    now: datetime,
    at: datetime,
    policy: WeeklyPolicy,
    run: str,
    compressed: int,
) -> Counter[str]:
    """Has the confidence of facts decay, archives those that fade, compresses entries, and removes messages that nothing refers to.

    Args:
        transaction: Of the agent.
        now: The moment that decides how old entries are.
        at: The time of the transaction, no earlier than `now`; it decides how old facts are, so no later run is undone.
        policy: It says how fast they decay, and which fade.
        run: The maintenance run, from which the claims are.
        compressed: So many entries at most are archived for others that quote them.
    """
    decay = await transaction.maintenance.decay_facts(at, policy)
    faded = 0
    for start in range(0, len(decay.fading), _FACTS):
        batch = decay.fading[start : start + _FACTS]
        claims = [_faded(fact, at=at, run=run) for fact in batch]
        faded += len(await transaction.facts.claim(claims))
    if decay.decayed or decay.restored:
        await transaction.facts.graph.rebuild()  # the weights of edges follow
    counts = await compress_entries(
        transaction, now=now, at=at, policy=policy, run=run, most=compressed
    )
    orphans = await transaction.maintenance.remove_orphans()
    return counts + Counter(
        decayed=decay.decayed,
        confidence_restored=decay.restored,
        faded=faded,
        messages_removed=orphans,
    )


def _faded(fact: FadingFact, *, at: datetime, run: str) -> Claim:
    return Claim(
        id=make_id(run, fact.id),
        kind="faded",
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        said_at=at,
        source=ClaimSource(extractor=MAINTENANCE),
    )
