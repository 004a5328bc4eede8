"""Readers: who may read what was said, by ids and patterns as in `mnestic.memory.selectors`.

Without readers everybody may read it who may read the agent. The database matches readers, in every statement.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.selectors import Selector

MOST_READERS = 50
DefaultKind = Literal["session", "channel"]


def _listed(value: object) -> object:
    """One reader, or a list, in which a template may have given a list, as one list."""
    if not isinstance(value, list | tuple):
        return (value,) if isinstance(value, str) else value
    return tuple(one for item in value for one in (item if isinstance(item, list) else [item]))


def _or_template(value: object, check: ValidatorFunctionWrapHandler) -> object:
    return value if isinstance(value, str) and "${" in value else check(value)


def _in_order(readers: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(readers)))


Readers = Annotated[
    tuple[Selector, ...],
    Field(min_length=1, max_length=MOST_READERS),
    BeforeValidator(_listed),
    AfterValidator(_in_order),
]

ReadersOrNobody = Annotated[
    tuple[Selector, ...],
    Field(max_length=MOST_READERS),
    BeforeValidator(_listed),
    AfterValidator(_in_order),
]
"""Readers of what is stored; without any it is for the agent alone."""

ReaderTemplates = Annotated[
    tuple[Annotated[Selector, WrapValidator(_or_template)], ...],
    Field(min_length=1, max_length=MOST_READERS),
    BeforeValidator(_listed),
]
"""Readers in a plan, which templates may give."""


class ReaderDefault(DeferredModel):
    """The readers of what is said in a session or a channel without any of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: DefaultKind = Field(
        description="Whether it is a session or a channel", examples=["channel"]
    )
    name: Annotated[str, Field(min_length=1, max_length=256)] = Field(
        description="The id of the session, or the channel", examples=["hr"]
    )
    readers: Readers = Field(description="Ids and patterns", examples=[["user.hr.*"]])


class ReaderDefaults(DeferredModel):
    """The sessions and channels that have readers."""

    model_config = ConfigDict(frozen=True)

    items: tuple[ReaderDefault, ...] = Field(description="Each of them; of others everybody is")
