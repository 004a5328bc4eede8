"""Selectors: the agents that a contract, a grant or a subscription is for, by one id or a pattern.

All of them match ids in one way: `*` stands for any characters, for none as well, dots and colons included. Every other
character stands for itself, case counts, and the whole id must match. So `agent.seo.*` matches `agent.seo.audit` and
`agent.seo.audit.daily`, but neither `agent.seo` nor `agent.seo2`.
"""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

from mnestic.memory.errors import InvalidInputError

ANY = "*"
_SELECTOR = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._@:+*-]{0,127}")


def check_selector(value: str, *, what: str) -> str:
    """Returns a selector: an id, in which `*` may stand for any characters.

    Raises:
        InvalidInputError: It is empty, too long or has other characters.
    """
    if not _SELECTOR.fullmatch(value):
        why = f"{value[:140]!r} is no id or pattern; use 1 to 128 letters, digits, ._@:+- and *, and begin with a letter, a digit or *"
        raise InvalidInputError(what=what, why=why)
    return value


def _selector(value: str) -> str:
    try:
        return check_selector(value, what="selector")
    except InvalidInputError as error:
        raise ValueError(error.why) from None


Selector = Annotated[
    str, AfterValidator(_selector), Field(json_schema_extra={"pattern": f"^{_SELECTOR.pattern}$"})
]


def matches(selector: str, name: str) -> bool:
    """Whether a selector matches a name; takes time in proportion to the product of their lengths at most."""
    first, *parts = selector.split(ANY)
    if not parts:
        return name == first
    *middle, last = parts
    if not name.startswith(first):
        return False
    place = len(first)
    for part in middle:  # the leftmost match of each leaves the most to those after it
        found = name.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return len(name) - place >= len(last) and name.endswith(last)


def find_selector(selectors: Iterable[str], name: str) -> str | None:
    """The selector that wins for a name, or None if none matches.

    An id wins over patterns. Of patterns, the one with more characters before its first `*` wins; then the one with more
    characters that are no `*`; then the first by the order of characters.
    """
    return min((one for one in selectors if matches(one, name)), key=_precedence, default=None)


def _precedence(selector: str) -> tuple[bool, int, int, str]:
    return (
        ANY in selector,
        -len(selector.partition(ANY)[0]),
        selector.count(ANY) - len(selector),
        selector,
    )
