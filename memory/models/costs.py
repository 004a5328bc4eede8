"""What models have cost, by purpose, and what of it was for memories and notes before messages.

`usage` limits calls by budgets; this is about calls that have ended.
"""

from collections.abc import Iterable
from decimal import Decimal

from pydantic import AwareDatetime, ConfigDict, NonNegativeInt

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.models.messages import TokenUsage
from mnestic.memory.models.usage import ModelPrices, Purpose, UsageTotal


class ModelCosts(UsageTotal):
    """What the calls of one model for one purpose took; `injected_tokens` are among the input."""

    purpose: Purpose
    model: str
    injected_tokens: NonNegativeInt = 0


class PurposeCosts(UsageTotal):
    """What the calls for one purpose took; `unpriced` calls are not in the cost."""

    purpose: Purpose
    models: tuple[str, ...]
    injected_tokens: NonNegativeInt = 0


class InjectedTokens(DeferredModel):
    """How many messages something was put before, and how many tokens that was in all."""

    model_config = ConfigDict(frozen=True)

    retrievals: NonNegativeInt = 0
    tokens: NonNegativeInt = 0


class RetrievalCosts(InjectedTokens):
    """What was put before messages: in all, and in calls of ours.

    `tokens` are those of all injections, also before messages that somebody else sent to a model.
    `metered_tokens` are in the input of calls that are in the books, at `cost_usd` by the prices of today;
    of `unpriced_tokens` no price is known.
    """

    metered_tokens: NonNegativeInt = 0
    unpriced_tokens: NonNegativeInt = 0
    cost_usd: Decimal = Decimal(0)


class Costs(DeferredModel):
    """What models cost from a moment up to another."""

    model_config = ConfigDict(frozen=True)

    since: AwareDatetime
    until: AwareDatetime
    purposes: tuple[PurposeCosts, ...] = ()
    total: UsageTotal = UsageTotal()
    injections: RetrievalCosts = RetrievalCosts()


def purposes_of(calls: Iterable[ModelCosts]) -> tuple[PurposeCosts, ...]:
    """The costs of models summed by purpose, in the order of its name."""
    found: dict[Purpose, list[ModelCosts]] = {}
    for one in calls:
        found.setdefault(one.purpose, []).append(one)
    return tuple(
        PurposeCosts(
            purpose=purpose,
            models=tuple(sorted(one.model for one in found[purpose])),
            injected_tokens=sum(one.injected_tokens for one in found[purpose]),
            **total_of(found[purpose]).model_dump(),
        )
        for purpose in sorted(found)
    )


def total_of(calls: Iterable[UsageTotal]) -> UsageTotal:
    """What calls took together."""
    summed = tuple(calls)
    return UsageTotal(
        calls=sum(one.calls for one in summed),
        unpriced=sum(one.unpriced for one in summed),
        input_tokens=sum(one.input_tokens for one in summed),
        output_tokens=sum(one.output_tokens for one in summed),
        cost_usd=sum((one.cost_usd for one in summed), start=Decimal(0)),
    )


def retrieval_costs_of(
    calls: Iterable[ModelCosts], put: InjectedTokens, prices: ModelPrices
) -> RetrievalCosts:
    """What injections took, at these prices."""
    cost, metered, unpriced = Decimal(0), 0, 0
    for one in calls:
        metered += one.injected_tokens
        usage = TokenUsage(input_tokens=one.injected_tokens, output_tokens=0)
        price = prices.cost_usd(one.model, usage)
        if price is None:
            unpriced += one.injected_tokens
        else:
            cost += price
    return RetrievalCosts(
        retrievals=put.retrievals,
        tokens=put.tokens,
        metered_tokens=metered,
        unpriced_tokens=unpriced,
        cost_usd=cost,
    )
