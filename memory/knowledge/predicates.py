"""Predicates: their names, how many objects each has at a time, and which category its facts belong to.

The defaults are data, in `predicates.yaml`, and not code in the extractors, since a tenant may change them.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.language.word_lists import parse_yaml

Category = Literal["profile", "preferences", "relationships", "work", "events", "knowledge"]
_FILE = Path(__file__).with_name("predicates.yaml")
_LONGEST = 64  # characters of a name
_MANY = re.compile(
    r"(?<![suai])s$|(?:[a-z]{2}[^e]ed|mate)$|^(?:has|is|was|does|goes)$"
)  # cycles, hobbies, visited; no address, bus

# What they say is another name of their subject, which it is found by as well.
NAMING = ("also_known_as", "full_name", "nickname", "preferred_name")


def check_predicate(name: str) -> str:
    """Returns the name of a predicate: letters of any script in lower case, digits and `_`, as in an identifier.

    Source: Unicode Standard Annex 31, with the normal form NFKC.

    Raises:
        InvalidInputError: it is none.
    """
    if not _is_name(name):
        example = _joined(name)[:_LONGEST]
        raise InvalidInputError(
            what="predicate",
            why=f"{name[:80]!r} is not a name; write words in lower case with _ between them, such as "
            f"{example if _is_name(example) else 'lives_in'}",
        )
    return name


def predicate_of(words: str) -> str:
    """The name that words give a predicate: `works_for` of "Works for".

    Raises:
        InvalidInputError: they begin with no letter, or are too long.
    """
    return check_predicate(_joined(words))


def _is_name(name: str) -> bool:
    is_word = name.isidentifier() and not name.startswith("_")
    return is_word and len(name) <= _LONGEST and name == _folded(name)


def _joined(words: str) -> str:
    letters = (one if f"_{one}".isidentifier() else "_" for one in _folded(words))
    return re.sub("_+", "_", "".join(letters)).strip("_")


def _folded(words: str) -> str:
    return unicodedata.normalize("NFKC", words).lower()


def _name(name: str) -> str:
    try:
        return check_predicate(name)
    except InvalidInputError as error:
        raise ValueError(error.why) from None


PredicateName = Annotated[
    str, AfterValidator(_name), Field(json_schema_extra={"minLength": 1, "maxLength": _LONGEST})
]


class Predicate(DeferredModel):
    """A predicate of a tenant."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: PredicateName
    cardinality: Cardinality = "multi"
    category: Category = "knowledge"


class DefaultPredicates(NamedTuple):
    """The predicates that every tenant has; see `predicates.yaml`.

    One of the `states` holds at a time, after another; an occasion is no such state.
    """

    by_name: Mapping[str, Predicate]
    states: frozenset[str]
    past: Mapping[str, str]
    prepositions: frozenset[str]


class _Defaults(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    single: dict[Category, list[str]]
    multi: dict[Category, list[str]]
    past: dict[str, str]
    prepositions: frozenset[str]


def default_predicate(name: str) -> Predicate:
    """What holds for a predicate about which a tenant has said nothing.

    Of one that is not among the defaults, its name tells: a noun in the singular, such as `landlord`, has one object at a time; a verb,
    such as `cycles_to`, and a noun in the plural have several.
    """
    return default_predicates().by_name.get(name) or Predicate(
        name=name, cardinality="single" if _is_one_noun(name) else "multi"
    )


def _is_one_noun(name: str) -> bool:
    """Whether a name is a noun in the singular, by its form: no word of it ends as verbs, participles and plurals do."""
    words = name.split("_")
    prepositions = default_predicates().prepositions
    is_verb = any(_MANY.search(one) or one in prepositions for one in (words[0], words[-1]))
    return name.isascii() and not is_verb


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
        past=defaults.past,
        prepositions=defaults.prepositions,
    )
