"""What calls of language models take and cost, and what a job may spend on them.

Plans give budgets, activities hold calls to them, and stores keep the calls.
"""

import re
from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    NonNegativeInt,
    RootModel,
    model_validator,
)
from pydantic_core import from_json

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import BudgetExceededError, ConfigurationError
from mnestic.memory.models.messages import TokenUsage

_PRICED_TOKENS, _PRICED_UNITS = 1_000_000, 1000
# `gpt-5-mini-2025-08-07`, `gpt-4-0613`; but not `gpt-5-mini`, which is no `gpt-5`.
_DATE_SUFFIX = re.compile(r"-\d{4}[\d-]*")

Purpose = Literal["think", "summarise", "extract", "embed", "retrieve", "rerank", "maintain"]
DAILY: tuple[Purpose, ...] = (
    "extract",
    "embed",
    "retrieve",
    "rerank",
    "maintain",
)  # what the budget of a day is for


class ModelPrice(DeferredModel):
    """USD for a million tokens, of what is sent and of what is answered, and for a thousand search units."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    search: Decimal = Field(Decimal(0), ge=0, allow_inf_nan=False)


class ModelPrices(RootModel[dict[str, ModelPrice]]):
    """Prices by the name of the model; text is read as JSON."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return from_json(value) if isinstance(value, str) else value

    def __str__(self) -> str:
        return self.model_dump_json(exclude_defaults=True)

    def find(self, model: str) -> ModelPrice | None:
        """The price of a model, or None; a name with a date at its end is that of the longest name."""
        if model in self.root:
            return self.root[model]
        named = [
            name
            for name in self.root
            if model.startswith(name) and _DATE_SUFFIX.fullmatch(model[len(name) :])
        ]
        return self.root[max(named, key=len)] if named else None

    def cost_usd(self, model: str, usage: TokenUsage, *, search_units: int = 0) -> Decimal | None:
        """What a call cost, or None where no price is known."""
        price = self.find(model)
        if price is None:
            return None
        spent = price.input * usage.input_tokens + price.output * usage.output_tokens
        return spent / _PRICED_TOKENS + price.search * search_units / _PRICED_UNITS


class ModelCall(DeferredModel):
    """One call of a model. `cost_usd` is None where no price was known.

    `injected_tokens`, by our count, are those of the input that were memories and notes put before it;
    `search_units` are what some rerankers bill.
    """

    model_config = ConfigDict(frozen=True)

    session_id: str | None
    job_id: str | None
    operation_key: str | None
    purpose: Purpose
    model: str
    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    cost_usd: Decimal | None = Field(ge=0)
    injected_tokens: NonNegativeInt = 0
    search_units: NonNegativeInt = 0


class UsageTotal(DeferredModel):
    """What a number of calls took together; `unpriced` of them are not in the cost."""

    model_config = ConfigDict(frozen=True)

    calls: NonNegativeInt = 0
    unpriced: NonNegativeInt = 0
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    cost_usd: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        """Tokens of both kinds."""
        return self.input_tokens + self.output_tokens

    def __str__(self) -> str:
        cost = f"{self.cost_usd.normalize():f} USD"
        unpriced = f" and {self.unpriced} calls without a price" if self.unpriced else ""
        return f"model calls: {self.calls}, {self.tokens} tokens, {cost}{unpriced}"


class Budget(DeferredModel):
    """What the model calls of something may take in all: tokens of both kinds, money, or both."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _gives_something(self) -> Self:
        if self.tokens is None and self.usd is None:
            raise ValueError("a budget gives tokens, usd or both")
        return self

    def cap_output(
        self, max_tokens: int, *, used: UsageTotal, input_tokens: int, job_id: str
    ) -> int:
        """How many tokens the next answer may have: `max_tokens`, or what is left if that is less.

        Raises:
            BudgetExceededError: the job has used its budget up, or the next input alone does.
            ConfigurationError: the budget is of money, and some of the job's calls have no price.
        """
        self._check_money(used, what=f"job {job_id}")
        if self.tokens is None:
            return max_tokens
        left = self.tokens - used.tokens - input_tokens
        if left < 1:
            raise BudgetExceededError(
                what=f"job {job_id}",
                used=f"{used.tokens} + {input_tokens} of the next input",
                limit=f"{self.tokens} tokens",
            )
        return min(max_tokens, left)

    def check_left(self, used: UsageTotal, *, what: str) -> None:
        """Lets a call through for as long as something is left, so that the last one may go over.

        Raises:
            BudgetExceededError: nothing is left.
            ConfigurationError: the budget is of money, and some of the calls have no price.
        """
        self._check_money(used, what=what)
        if self.tokens is not None and used.tokens >= self.tokens:
            raise BudgetExceededError(
                what=what, used=str(used.tokens), limit=f"{self.tokens} tokens"
            )

    def _check_money(self, used: UsageTotal, *, what: str) -> None:
        if self.usd is None:
            return
        if used.unpriced:
            raise ConfigurationError(
                setting="MNESTIC_MODEL_PRICES",
                why=f"has no price for {used.unpriced} of the {used.calls} model calls of {what}, "
                "whose budget is in USD",
            )
        if used.cost_usd >= Decimal(str(self.usd)):
            raise BudgetExceededError(
                what=what, used=f"{used.cost_usd.normalize():f}", limit=f"{self.usd:g} USD"
            )
