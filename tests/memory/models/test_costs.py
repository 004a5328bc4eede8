"""What models cost by purpose, and what of it was put before messages."""

from decimal import Decimal
from typing import Any

from mnestic.memory.models.costs import (
    InjectedTokens,
    ModelCosts,
    purposes_of,
    retrieval_costs_of,
    total_of,
)
from mnestic.memory.models.usage import ModelPrices

PRICES = ModelPrices.model_validate({"small": {"input": "2", "output": "8"}})


def costs(**fields: Any) -> ModelCosts:
    values = {
        "purpose": "think",
        "model": "small",
        "calls": 2,
        "input_tokens": 1000,
        "output_tokens": 100,
        "cost_usd": Decimal("0.0028"),
    }
    return ModelCosts.model_validate(values | fields)


CALLS = (
    costs(injected_tokens=500),
    costs(model="unknown", cost_usd=Decimal(0), unpriced=2, injected_tokens=300),
    costs(purpose="extract"),
)


def test_costs_are_summed_by_purpose_whichever_model_it_was_and_in_all() -> None:
    extract, think = purposes_of(CALLS)
    total = total_of(CALLS)

    assert (extract.purpose, extract.models, extract.calls) == ("extract", ("small",), 2)
    assert (think.purpose, think.models) == ("think", ("small", "unknown"))
    assert (think.calls, think.unpriced, think.tokens, think.injected_tokens) == (4, 2, 2200, 800)
    assert (think.cost_usd, total.cost_usd) == (Decimal("0.0028"), Decimal("0.0056"))
    assert (total.calls, total.unpriced, total.tokens) == (6, 2, 3300)


def test_injections_are_priced_as_input_where_a_price_is_known() -> None:
    told = retrieval_costs_of(CALLS, InjectedTokens(retrievals=9, tokens=1000), PRICES)

    assert (told.retrievals, told.tokens) == (9, 1000)
    assert (told.metered_tokens, told.unpriced_tokens) == (800, 300)
    assert told.cost_usd == Decimal("0.001")


def test_nothing_costs_nothing() -> None:
    assert purposes_of(()) == ()
    assert total_of(()).cost_usd == 0
    assert retrieval_costs_of((), InjectedTokens(), PRICES).metered_tokens == 0
