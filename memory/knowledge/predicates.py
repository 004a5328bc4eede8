"""Predicates: how many objects each has at a time, and which category its facts belong to.

The defaults are data, in `predicates.yaml`, and not code in the extractors, since a tenant may change them.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.language.word_lists import parse_yaml

Category = Literal["profile", "preferences", "relationships", "work", "events", "knowledge"]
_FILE = Path(__file__).with_name("predicates.yaml")
_NAME = r"^[a-z][a-z0-9_]{0,63}$"

# What they say is another name of their subject, which it is found by as well.
NAMING = ("also_known_as", "full_name", "nickname", "preferred_name")


class Predicate(DeferredModel):
    """A predicate of a tenant."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(pattern=_NAME)
    cardinality: Cardinality = "multi"
    category: Category = "knowledge"


class DefaultPredicates(NamedTuple):
    """The predicates that every tenant has; see `predicates.yaml`.

    One of the `states` holds at a time, after another; an occasion is no such state.
    """

    by_name: Mapping[str, Predicate]
    states: frozenset[str]
    without_place: frozenset[str]
    past: Mapping[str, str]
    opposites: Mapping[str, tuple[str, ...]]


class _Defaults(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    single: dict[Category, list[str]]
    multi: dict[Category, list[str]]
    without_place: frozenset[str]
    past: dict[str, str]
    opposites: dict[str, tuple[str, ...]]


def check_predicate(name: str) -> str:
    """Returns the name of a predicate.

    Raises:
        InvalidInputError: it is none.
    """
    if not re.fullmatch(_NAME, name):
        raise InvalidInputError(
            what="predicate",
            why=f"{name[:80]!r} is not a name; write a-z, 0-9 and _, such as lives_in",
        )
    return name


def default_predicate(name: str) -> Predicate:
    """What holds for a predicate about which a tenant has said nothing."""
    return default_predicates().by_name.get(name) or Predicate(name=name)


@cache
def default_predicates() -> DefaultPredicates:
    """The predicates of the file, read once."""
    defaults = _Defaults.model_validate(parse_yaml(_FILE.read_text("utf-8")))
    lists: Mapping[Cardinality, Mapping[Category, list[str]]] = {
        "single": defaults.single,
        "multi": defaults.multi,
    }
    by_name = {
        name: Predicate(name=name, cardinality=cardinality, category=category)
        for cardinality, by_category in lists.items()
        for category, names in by_category.items()
        for name in names
    }
    return DefaultPredicates(
        by_name=by_name,
        states=frozenset(
            name
            for name, one in by_name.items()
            if one.cardinality == "single" and one.category != "events"
        ),
        without_place=defaults.without_place,
        past=defaults.past,
        opposites=defaults.opposites,
    )
