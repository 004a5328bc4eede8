"""Filters of records: conditions on fields of their values, their order, and the page that is wanted.

Every way in takes the same filter, and each backend answers it.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.validation import OF_UNION, refused

Operator = Literal["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "text", "exists"]
KEY = "$key"
"""The field that is no part of the value: the key of the record."""
METADATA = "$metadata"
"""The fields of the metadata begin with it, as in `$metadata.source`."""
_DEEPEST, _MOST_CONDITIONS, _MOST_VALUES = 8, 100, 1000
_MOST_FIELDS, _LONGEST_FIELD = 8, 256
_RANGES = frozenset({"lt", "lte", "gt", "gte"})


def _path(value: str) -> str:
    parts = value.split(".")
    is_whole = value == "" or all(parts)
    if not is_whole or len(parts) > _MOST_FIELDS or len(value) > _LONGEST_FIELD:
        raise ValueError(
            f"is no path such as customer.city, of at most {_MOST_FIELDS} names and {_LONGEST_FIELD} characters"
        )
    if value.startswith("$") and parts[0] != METADATA and value != KEY:
        raise ValueError(f"is not known; only {KEY} and {METADATA}.NAME begin with $")
    return value


FieldPath = Annotated[str, AfterValidator(_path)]
"""A field of the value, such as `customer.city`; empty for the whole value."""


class _Part(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FieldCondition(_Part):
    """A condition on one field.

    `eq`, `ne`, `in`: the field is, or is not, the value, or one of a list. `lt`, `lte`, `gt`, `gte`: it is a number or a text, as
    the value is, and less or greater. `contains`: a list has the value, an object its members, or a text the text, whatever the
    case. `text`: its words are those of a query, as web searches write them. `exists`: it is there, or is not. A field that is
    not there fulfils only `ne` and `exists: false`.
    """

    field: FieldPath
    op: Operator = "eq"
    value: Any = Field(True, description="What the field is compared with")

    @model_validator(mode="after")
    def _check_value(self) -> Self:
        problem = _problem_of(self.op, self.value)
        if problem:
            raise ValueError(f"{self.op} {problem}")
        return self


def _problem_of(op: Operator, value: Any) -> str | None:
    """What is wrong with the value of an operator, or None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if op in _RANGES and not (is_number or isinstance(value, str)):
        return "takes a number or a text"
    if op == "in" and not (isinstance(value, list | tuple) and 1 <= len(value) <= _MOST_VALUES):
        return f"takes a list of 1 to {_MOST_VALUES} values"
    if op == "text" and not (isinstance(value, str) and value.strip()):
        return "takes a text that is not empty"
    if op == "exists" and not isinstance(value, bool):
        return "takes true or false"
    return None


class AllOf(_Part):
    """All conditions hold."""

    all: tuple["Condition", ...] = Field(alias="and", min_length=1, max_length=_MOST_CONDITIONS)


class AnyOf(_Part):
    """One of the conditions holds."""

    any: tuple["Condition", ...] = Field(alias="or", min_length=1, max_length=_MOST_CONDITIONS)


class Not(_Part):
    """The condition does not hold."""

    condition: "Condition" = Field(alias="not")


def _kind(value: Any) -> str:
    """Which of the conditions a value is meant to be, so that an error speaks of that one alone."""
    if isinstance(value, AllOf | AnyOf | Not):
        return f"{OF_UNION}{type(value).__name__}"
    named = value if isinstance(value, Mapping) else {}
    others: tuple[type[_Part], ...] = (AllOf, AnyOf, Not)
    names = {word: kind for kind in others for word in _names_of(kind)}
    found = next((names[word] for word in names if word in named), FieldCondition)
    return f"{OF_UNION}{found.__name__}"


def _names_of(kind: type[_Part]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        yield from (name, field.alias or name)


Condition = Annotated[
    Annotated[FieldCondition, Tag(f"{OF_UNION}FieldCondition")]
    | Annotated[AllOf, Tag(f"{OF_UNION}AllOf")]
    | Annotated[AnyOf, Tag(f"{OF_UNION}AnyOf")]
    | Annotated[Not, Tag(f"{OF_UNION}Not")],
    Discriminator(_kind),
]


class QueryFilter(_Part):
    """Which records of a schema are wanted, and in which order.

    Records come in the order of the fields of `order_by`, then by key; all downwards with `descending`. Values of different
    types come as null, text, number, boolean, list, object; a field that is not there counts as null.
    """

    where: Condition | None = None
    order_by: tuple[FieldPath, ...] = Field((), max_length=4)
    descending: bool = False
    limit: int = Field(100, ge=1, le=1000)
    cursor: str | None = Field(None, max_length=20_000)

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        check_condition(self.where)
        return self


def check_condition(condition: Condition | None) -> None:
    """Refuses too many conditions.

    Raises:
        ValueError: says how many there may be.
    """
    if condition is not None and count_conditions(condition) > _MOST_CONDITIONS:
        raise ValueError(
            f"has more than {_MOST_CONDITIONS} conditions, or they are nested more than {_DEEPEST} deep"
        )


def count_conditions(condition: Condition, *, depth: int = 1) -> int:
    """How many conditions there are, or more than are allowed if they are nested too deep."""
    if depth > _DEEPEST:
        return _MOST_CONDITIONS + 1
    if isinstance(condition, FieldCondition):
        return 1
    if isinstance(condition, Not):
        return 1 + count_conditions(condition.condition, depth=depth + 1)
    inside = condition.all if isinstance(condition, AllOf) else condition.any
    return 1 + sum(count_conditions(one, depth=depth + 1) for one in inside)


def read_filter(value: "QueryFilter | dict[str, Any] | None") -> QueryFilter:
    """A filter out of JSON values; None is one that all records of the schema pass.

    Raises:
        InvalidInputError: names what is wrong, and what is allowed.
    """
    if isinstance(value, QueryFilter):
        return value
    try:
        return QueryFilter.model_validate(value or {})
    except ValidationError as error:
        raise refused("filter", error, model=QueryFilter) from None
    except RecursionError:
        raise InvalidInputError(what="filter", why="is nested too deep") from None
