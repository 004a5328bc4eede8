"""The costs of a tenant's model calls, from the usage table."""

from datetime import datetime, timedelta

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.models.costs import Costs, purposes_of, retrieval_costs_of, total_of
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory
from mnestic.memory.scope import EVERY_AGENT

_USUAL = timedelta(days=30)


async def costs_of(
    memory: Memory,
    *,
    tenant_id: str,
    prices: ModelPrices,
    since: datetime | None = None,
    until: datetime | None = None,
    agent_id: str | None = None,
) -> Costs:
    """The costs of model calls by purpose, and those of retrievals before messages.

    Args:
        memory: Where the books are.
        tenant_id: Whose costs they are.
        prices: What injections are reckoned by; a call's own cost is the one that was written down.
        since: From this moment, of the last 30 days without it. Aware.
        until: Up to this moment, until now without it. Aware.
        agent_id: Only of this agent.

    Raises:
        InvalidInputError: it ends before it begins.
    """
    transaction = memory.transaction(
        tenant_id=tenant_id, agent_id=agent_id or EVERY_AGENT, actor="client", write=False
    )
    async with transaction as books:
        now = await books.now()
        until = until or now + timedelta(microseconds=1)  # what was written at this moment counts
        since = since or until - _USUAL
        if until < since:
            raise InvalidInputError(what="until", why="is before since")
        calls = await books.usage.sum_by_model(since, until, agent_id=agent_id)
        put = await books.retrieval_log.sum_between(since, until, agent_id=agent_id)
    return Costs(
        since=since,
        until=until,
        purposes=purposes_of(calls),
        total=total_of(calls),
        injections=retrieval_costs_of(calls, put, prices),
    )
