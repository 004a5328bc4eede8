"""Templates: `${root.path}` in a plan's values, looked up in what a job knows.

A string that is one template alone becomes the value itself, of any type; a template inside other
text becomes text. `${a.b | c.d}` takes the first path that is there; `$$` stands for a plain `$`.

Values that name memory are filled in twice: early, in the workflow, which knows `input`, `results`
and `job`, and then in an activity, which knows `memory`. What the first pass puts in is escaped, so
that text of a user never becomes a template in the second.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mnestic.memory.errors import InvalidInputError

_PATH = r"[A-Za-z_][\w-]*(?:\.[\w:@+-]+)*"
_TEMPLATE = re.compile(rf"\$\{{({_PATH}(?:\s*\|\s*{_PATH})*)\}}")
_TOKEN = re.compile(rf"\$\$|{_TEMPLATE.pattern}")


def resolve(value: Any, roots: Mapping[str, Any]) -> Any:
    """Fills in the templates of a value, at any depth, for good.

    Raises:
        InvalidInputError: a template names something that is not there; says what is.
    """
    return _each_text(value, lambda text: _resolve_text(text, roots))


def resolve_early(value: Any, roots: Mapping[str, Any]) -> Any:
    """Fills in the templates whose roots are at hand, and leaves the rest for `resolve`.

    Raises:
        InvalidInputError: a template names something that is not there; says what is.
    """
    return _each_text(value, lambda text: _resolve_text_early(text, roots))


def as_text(found: Any) -> str:
    """A value as text: text as it is, all else as JSON."""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def roots_of(value: Any) -> Iterator[frozenset[str]]:
    """The roots that each template of a value names."""
    return (frozenset(_roots(paths)) for paths in _templates_of(value))


def names_under(value: Any, place: str) -> frozenset[str]:
    """The names that templates of a value look up at a place such as `memory.results`.

    A template that names the place itself gives the empty name.
    """
    prefix = f"{place}."
    paths = (f"{path.strip()}." for paths in _templates_of(value) for path in paths.split("|"))
    under = (path.removeprefix(prefix) for path in paths if path.startswith(prefix))
    return frozenset(rest.partition(".")[0] for rest in under)


def _templates_of(value: Any) -> Iterator[str]:
    """What stands between the braces of each template, at any depth."""
    if isinstance(value, str):
        yield from (paths for paths in _TOKEN.findall(value) if paths)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _templates_of(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _templates_of(item)


def _each_text(value: Any, change: Callable[[str], Any]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each_text(item, change) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_each_text(item, change) for item in value]
    return value


def _resolve_text(text: str, roots: Mapping[str, Any]) -> Any:
    whole = _TEMPLATE.fullmatch(text)
    if whole:
        return _lookup_first(whole[1], roots)
    return _TOKEN.sub(
        lambda match: as_text(_lookup_first(match[1], roots)) if match[1] else "$", text
    )


def _resolve_text_early(text: str, roots: Mapping[str, Any]) -> Any:
    def fill(match: re.Match[str]) -> str:
        if match[1] is None or not _roots(match[1]) <= set(roots):
            return match[0]
        return _escape(as_text(_lookup_first(match[1], roots)))

    whole = _TEMPLATE.fullmatch(text)
    if whole and _roots(whole[1]) <= set(roots):
        return _each_text(_lookup_first(whole[1], roots), _escape)
    return _TOKEN.sub(fill, text)


def _escape(text: str) -> str:
    """Doubles each `$`, so that no template can arise where two texts meet."""
    return text.replace("$", "$$")


def _roots(paths: str) -> set[str]:
    return {path.strip().partition(".")[0] for path in paths.split("|")}


def _lookup_first(paths: str, roots: Mapping[str, Any]) -> Any:
    *early, last = [path.strip() for path in paths.split("|")]
    for path in early:
        try:
            return _lookup(path, roots)
        except InvalidInputError:
            continue
    return _lookup(last, roots)


def _lookup(path: str, roots: Mapping[str, Any]) -> Any:
    found: Any = roots
    for name in path.split("."):
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, Sequence) and not isinstance(found, str) and _is_index(name, found):
            found = found[int(name)]
        else:
            there = ", ".join(sorted(found)) if isinstance(found, Mapping) else "nothing by name"
            raise InvalidInputError(
                what=f"${{{path}}}", why=f"has no {name!r}; there is: {there or 'nothing'}"
            )
    return found


def _is_index(name: str, found: Sequence[Any]) -> bool:
    return name.isdecimal() and int(name) < len(found)
