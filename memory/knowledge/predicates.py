"""Predicates: how many objects each has at a time, and which category its facts belong to.

The defaults are data and not code in the extractors, since a tenant may change them.
"""

import re
from types import MappingProxyType
from typing import Literal

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Cardinality

Category = Literal["profile", "preferences", "relationships", "work", "events", "knowledge"]
_NAME = r"^[a-z][a-z0-9_]{0,63}$"
_SINGLE: dict[Category, str] = {
    "profile": "age birthday born_in comes_from diet email floor full_name gender height home_type lives_in "
    "nationality phone pronouns status_of_health timezone",
    "preferences": "favourite_animal favourite_artist favourite_author favourite_band favourite_book "
    "favourite_city favourite_colour favourite_drink favourite_film favourite_food favourite_game "
    "favourite_music favourite_place favourite_season favourite_song favourite_sport favourite_subject "
    "preferred_language preferred_name",
    "relationships": "engaged_to married_to partner relationship_status",
    "work": "employer job_title salary school studies_at team_leader works_on",
    "events": "due_date happens_on starts_work_on travel_date wedding_date",
    "knowledge": "capital price status version",
}
_MULTI: dict[Category, str] = {
    "profile": "allergic_to also_known_as languages_spoken learns lived_in member_of nickname owns pet skill "
    "trains_in",
    "preferences": "avoids dislikes drinks eats habit_of hobby likes plays wants",
    "relationships": "aunt_or_uncle child colleague cousin friend grandchild grandparent in_law knows lives_with "
    "neighbour niece_or_nephew parent sibling",
    "work": "graduated_from manages responsible_for studies teaches works_with worked_at",
    "events": "attended expects experienced plans visited",
    "knowledge": "is_a knows_that located_in part_of said",
}


# What they say is another name of their subject, which it is found by as well.
NAMING = ("also_known_as", "full_name", "nickname", "preferred_name")


class Predicate(DeferredModel):
    """A predicate of a tenant."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(pattern=_NAME)
    cardinality: Cardinality = "multi"
    category: Category = "knowledge"


DEFAULTS = MappingProxyType(
    {
        name: Predicate(name=name, cardinality=cardinality, category=category)
        for cardinality, by_category in (("single", _SINGLE), ("multi", _MULTI))
        for category, names in by_category.items()
        for name in names.split()
    }
)
# Of which one holds at a time, after another: an occasion is no such state.
STATES = frozenset(
    name for category, names in _SINGLE.items() if category != "events" for name in names.split()
)


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
    return DEFAULTS.get(name) or Predicate(name=name)
