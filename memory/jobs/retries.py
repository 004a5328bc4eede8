"""Retries: how often, and after which pauses, a node of a plan is tried again."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.durations import Delay
from mnestic.memory.validation import Name


class Retry(DeferredModel):
    """A retry policy. What it does not say is as it is for nodes of that kind.

    `attempts` counts the first one too; 0 means without limit. The first pause is `first_delay`, each
    next one is `backoff` times as long, up to `max_delay`. Errors whose type is in `not_on` fail the
    node at once.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    attempts: int | None = Field(None, ge=0, le=1_000_000)
    first_delay: Delay | None = None
    max_delay: Delay | None = None
    backoff: Annotated[float, Field(ge=1, le=100)] | None = None
    not_on: tuple[Name, ...] = Field((), max_length=100)

    @model_validator(mode="after")
    def _delays_grow(self) -> Self:
        first, longest = self.first_delay, self.max_delay
        if first is not None and longest is not None and longest < first:
            raise ValueError("max_delay is shorter than first_delay")
        return self
