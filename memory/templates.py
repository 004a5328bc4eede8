"""Templates: `${root.path}` in a plan's values, looked up in what a job knows.

A string that is one template alone becomes the value itself, of any type; a template inside other
text becomes text. `${a.b | c.d}` takes the first path that is there. Roots that are not at hand are left as they are, for somebody who has them: the
workflow knows `input`, `results` and `job`, the activities know `memory`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mnestic.memory.errors import InvalidInputError

_PATH = r"[A-Za-z_][\w-]*(?:\.[\w:@+-]+)*"
_TEMPLATE = re.compile(rf"\$\{{({_PATH}(?:\s*\|\s*{_PATH})*)\}}")


def resolve(value: Any, roots: Mapping[str, Any]) -> Any:
    """Fills in the templates of a value, at any depth.

    Raises:
        InvalidInputError: a template names something that is not there; says what is.
    """
    if isinstance(value, str):
        return _resolve_text(value, roots)
    if isinstance(value, Mapping):
        return {key: resolve(item, roots) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [resolve(item, roots) for item in value]
    return value


def roots_of(value: Any) -> set[str]:
    """The roots that the templates of a value name."""
    if isinstance(value, str):
        return {root for paths in _TEMPLATE.findall(value) for root in _roots(paths)}
    if isinstance(value, Mapping):
        return set().union(*(roots_of(item) for item in value.values()))
    if isinstance(value, Sequence):
        return set().union(*(roots_of(item) for item in value))
    return set()


def _resolve_text(text: str, roots: Mapping[str, Any]) -> Any:
    whole = _TEMPLATE.fullmatch(text)
    if whole and _roots(whole[1]) <= set(roots):
        return _lookup_first(whole[1], roots)
    return _TEMPLATE.sub(lambda match: _as_text(match, roots), text)


def _as_text(match: re.Match[str], roots: Mapping[str, Any]) -> str:
    if not _roots(match[1]) <= set(roots):
        return match[0]
    found = _lookup_first(match[1], roots)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


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
