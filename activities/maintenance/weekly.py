"""The weekly maintenance of an agent: facts that nobody mentions or uses lose confidence, and fade in the end."""

from collections import Counter
from datetime import datetime

from mnestic.activities.maintenance.batches import Batch, BatchRun
from mnestic.activities.maintenance.compression import compress_entries
from mnestic.memory.knowledge.claims import MAINTENANCE, Claim, ClaimSource, make_id
from mnestic.memory.maintenance.policies import WeeklyPolicy
from mnestic.memory.maintenance.ports import FadingFact
from mnestic.memory.maintenance.removal_guard import ActiveMemory
from mnestic.memory.ports import Transaction

_FACTS = 500  # whose claims are added at once


async def maintain_weekly(
    transaction: Transaction,
    batch_run: BatchRun,
    *,
    policy: WeeklyPolicy,
    compressed: int,
    after: str | None = None,
) -> Batch:
    """Has the confidence of facts decay, archives those that fade, compresses entries, and removes messages that nothing refers to.

    The first batch does all of it, but archives only so many facts; later batches archive the others. No batch divides the facts
    of one subject and predicate, since one that fades has the others resolved anew.

    Args:
        transaction: Of the agent.
        batch_run: The run, from which the claims are. How old facts are is of the transaction, so no later run is undone. If it
            removes nothing, no fact is archived.
        policy: It says how fast they decay, and which fade.
        compressed: So many entries at most are archived for others that quote them.
        after: The last fact of the batch before, by id; None for the first batch.
    """
    now, at, run, sizes, removes = batch_run
    fading = _Fading(transaction, at=at, policy=policy, run=run, most=sizes.faded)
    if after is not None:
        faded, last = await fading.archive(after=after)
        if last is None:
            await transaction.facts.graph.rebuild()
        return Batch(+Counter(faded=faded), after=last)
    decay = await transaction.maintenance.decay_facts(at, policy)
    faded, last = 0, None
    if decay.fading and removes:
        faded, last = await fading.archive(after="")
    if last is None and (decay.decayed or decay.restored):
        await (
            transaction.facts.graph.rebuild()
        )  # the weights of edges follow, once all that fades is archived
    counts = await compress_entries(
        transaction, now=now, at=at, policy=policy, run=run, most=compressed
    )
    orphans = await transaction.maintenance.remove_orphans()
    counts += Counter(
        decayed=decay.decayed,
        confidence_restored=decay.restored,
        faded=faded,
        messages_removed=orphans,
    )
    left = 0 if last is None else decay.fading - faded
    return Batch(+counts, last, Counter(faded=left), ActiveMemory(facts=left, entries=0))


class _Fading:
    """The facts that fade, in one transaction."""

    def __init__(
        self,
        transaction: Transaction,
        *,
        at: datetime,
        policy: WeeklyPolicy,
        run: str,
        most: int,
    ) -> None:
        self._transaction, self._at, self._policy = transaction, at, policy
        self._run, self._most = run, most

    async def archive(self, *, after: str) -> tuple[int, str | None]:
        """Archives the next facts that fade; returns how many, and the last of them unless there are no more."""
        fading, last = await self._transaction.maintenance.list_fading(
            self._at, self._policy, after=after, limit=self._most
        )
        faded = 0
        for start in range(0, len(fading), _FACTS):
            batch = fading[start : start + _FACTS]
            claims = [_faded(fact, at=self._at, run=self._run) for fact in batch]
            faded += len(await self._transaction.facts.claim(claims))
        return faded, last


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
