from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mnestic.memory.errors import BudgetExceededError, ConfigurationError
from mnestic.memory.models.messages import TokenUsage
from mnestic.memory.models.usage import Budget, ModelPrices, UsageTotal
from tests.memory.tables import refusal

PRICES = ModelPrices.model_validate(
    {
        "gpt-5": {"input": "1.25", "output": 10},
        "gpt-5-mini": {"input": "0.25", "output": "2.00"},
        "free": {"input": 0, "output": 0},
    }
)
TOKENS = st.integers(0, 10**9)


def test_a_call_costs_what_its_model_does() -> None:
    used = TokenUsage(input_tokens=1_000_000, output_tokens=1_000_000)
    costs = {
        "gpt-5-mini": Decimal("2.25"),
        "gpt-5-mini-2025-08-07": Decimal("2.25"),
        "gpt-5-2025-08-07": Decimal("11.25"),
        "gpt-5-0807": Decimal("11.25"),
        "free": Decimal(0),
    }
    others = ["gpt-4", "gpt-5-nano", "gpt-5-mini-high", "gpt-5.1", "GPT-5", "gpt-5-", "gpt-5-1", ""]

    assert {model: PRICES.cost_usd(model, used) for model in costs} == costs
    assert {PRICES.cost_usd(model, used) for model in others} == {None}


@given(one=st.tuples(TOKENS, TOKENS), two=st.tuples(TOKENS, TOKENS))
def test_costs_add_up_to_the_last_digit(one: tuple[int, int], two: tuple[int, int]) -> None:
    def cost(pair: tuple[int, int]) -> Decimal:
        found = PRICES.cost_usd(
            "gpt-5-mini", TokenUsage(input_tokens=pair[0], output_tokens=pair[1])
        )
        assert found is not None
        return found

    assert cost(one) + cost(two) == cost((one[0] + two[0], one[1] + two[1]))


def test_prices_are_read_from_json_and_written_as_json() -> None:
    assert ModelPrices.model_validate(str(PRICES)) == PRICES


@pytest.mark.parametrize(
    "wrong",
    [
        *("{", "[]", '{"a": 1}', '{"a": {"input": 1}}', '{"a": {"input": -1, "output": 1}}'),
        '{"a": {"input": "nan", "output": 1}}',
        '{"a": {"input": 1, "output": 1, "cached": 1}}',
    ],
)
def test_prices_of_another_form_are_refused(wrong: str) -> None:
    assert refusal(ModelPrices.model_validate, wrong, error=ValidationError)


def test_a_budget_of_nothing_is_refused() -> None:
    nothing: list[dict[str, Any]] = [
        *({}, {"tokens": 0}, {"usd": 0}, {"usd": float("inf")}, {"tokens": None, "usd": None})
    ]

    assert all(refusal(Budget.model_validate, one, error=ValidationError) for one in nothing)


@given(
    budget=st.integers(1, 1000),
    used=st.integers(0, 1000),
    input_tokens=st.integers(0, 1000),
    asked=st.integers(1, 1000),
)
def test_a_call_never_gets_more_than_what_is_left(
    budget: int, used: int, input_tokens: int, asked: int
) -> None:
    total = UsageTotal(calls=1, input_tokens=used)
    left = budget - used - input_tokens

    try:
        cap = Budget(tokens=budget).cap_output(
            asked, used=total, input_tokens=input_tokens, job_id="j1"
        )
    except BudgetExceededError as error:
        assert left < 1
        assert error.used == f"{used} + {input_tokens} of the next input"  # noqa: PT017 - one of two right ways
    else:
        assert 1 <= cap == min(asked, left)


def test_money_that_is_used_up_ends_the_calls() -> None:
    def capped(cost: str) -> int:
        total = UsageTotal(calls=1, cost_usd=Decimal(cost))
        return Budget(usd=0.1).cap_output(5, used=total, input_tokens=1, job_id="j1")

    assert (capped("0"), capped("0.09")) == (5, 5)
    with pytest.raises(BudgetExceededError, match=r"job j1 is used up: 0\.1 of 0\.1 USD"):
        capped("0.1")


def test_a_budget_of_money_needs_prices() -> None:
    total = UsageTotal(calls=2, unpriced=1)

    with pytest.raises(ConfigurationError, match=r"MNESTIC_MODEL_PRICES.*1 of the 2 model calls"):
        Budget(usd=1).cap_output(5, used=total, input_tokens=1, job_id="j1")
    assert Budget(tokens=9).cap_output(5, used=total, input_tokens=1, job_id="j1") == 5


@pytest.mark.parametrize(
    ("budget", "used", "told"),
    [
        (Budget(tokens=100), UsageTotal(calls=1, input_tokens=99), None),
        (Budget(tokens=100), UsageTotal(calls=1, input_tokens=60, output_tokens=40), "100 of 100"),
        (Budget(usd=0.1), UsageTotal(calls=1, cost_usd=Decimal("0.0999")), None),
        (Budget(usd=0.1), UsageTotal(calls=1, cost_usd=Decimal("0.25")), "0.25 of 0.1 USD"),
        (Budget(usd=0.1), UsageTotal(calls=2, unpriced=1), "MNESTIC_MODEL_PRICES"),
    ],
    ids=str,
)
def test_calls_go_on_while_something_is_left(
    budget: Budget, used: UsageTotal, told: str | None
) -> None:
    if told is None:
        budget.check_left(used, what="learning today")
        return
    with pytest.raises((BudgetExceededError, ConfigurationError), match=told) as error:
        budget.check_left(used, what="learning today")
    assert "learning today" in str(error.value)
