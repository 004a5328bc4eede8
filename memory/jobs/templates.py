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

FILLED_BYTES = 2_000_000
"""What the templates of a value may fill in, just below what Temporal carries."""
_LONGEST_INDEX = 9  # digits
_LONGEST_NAME = 256  # characters, as of names of all kinds
_PATH = r"[A-Za-z_][\w-]*(?:\.[\w:@+-]+)*"
_TEMPLATE = re.compile(rf"\$\{{({_PATH}(?:\s*\|\s*{_PATH})*)\}}")
_MEMORY, _NAMED = "memory", 2  # below memory.variables.NAME, names are parts of values
_TOKEN = re.compile(rf"\$\$|{_TEMPLATE.pattern}")


def resolve(value: Any, roots: Mapping[str, Any], *, limit_bytes: int = FILLED_BYTES) -> Any:
    """Fills in the templates of a value, at any depth, for good.

    Raises:
        InvalidInputError: a template names something that is not there, and says what is; or what all
            of them fill in is over the limit.
    """
    known = _Known(roots, limit_bytes=limit_bytes)
    return _each_text(value, lambda text: _resolve_text(text, known))


def resolve_early(value: Any, roots: Mapping[str, Any]) -> Any:
    """Fills in the templates whose roots are given, and leaves the rest for `resolve`.

    Raises:
        InvalidInputError: as of `resolve`.
    """
    known = _Known(roots, limit_bytes=FILLED_BYTES)
    return _each_text(value, lambda text: _resolve_text_early(text, known))


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


def long_names(value: Any) -> Iterator[str]:
    """The names in templates of a value that are too long to be there, each by its beginning."""
    for paths in _templates_of(value):
        for name in re.split(r"[.|]", paths):
            if len(name) > _LONGEST_NAME:
                yield name[:20]


def missing_under(value: Any, root: str, there: Any) -> Iterator[str]:
    """The paths under a root that templates of a value need and that lead nowhere.

    Of `${a | b}` that is `b`, unless `a` is there.
    """
    roots = {root: there}
    for paths in _templates_of(value):
        each = [path.strip() for path in paths.split("|")]
        under = [path for path in each if path.partition(".")[0] == root]
        if each[-1] in under and not any(_is_there(path, roots) for path in under):
            yield each[-1]


def _is_there(path: str, roots: Mapping[str, Any]) -> bool:
    try:
        _lookup(path, roots)
    except InvalidInputError:
        return False
    return True


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


class _Known:
    """What templates are looked up in, until what was found is more than there is room for."""

    def __init__(self, roots: Mapping[str, Any], *, limit_bytes: int) -> None:
        self.roots = roots
        self._limit = self._left = limit_bytes

    def find(self, paths: str) -> Any:
        found = _lookup_first(paths, self.roots)
        self._left -= len(as_text(found).encode(errors="replace"))
        if self._left < 0:
            why = f"fills in more than the {self._limit} bytes that templates may in all"
            raise InvalidInputError(what=f"${{{paths}}}", why=why)
        return found


def _resolve_text(text: str, known: _Known) -> Any:
    whole = _TEMPLATE.fullmatch(text)
    if whole:
        return known.find(whole[1])
    return _TOKEN.sub(lambda match: as_text(known.find(match[1])) if match[1] else "$", text)


def _resolve_text_early(text: str, known: _Known) -> Any:
    def fill(match: re.Match[str]) -> str:
        if match[1] is None or not _roots(match[1]) <= set(known.roots):
            return match[0]
        return _escape(as_text(known.find(match[1])))

    whole = _TEMPLATE.fullmatch(text)
    if whole and _roots(whole[1]) <= set(known.roots):
        return _each_text(known.find(whole[1]), _escape)
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
    for depth, name in enumerate(path.split(".")):
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, Sequence) and not isinstance(found, str) and _is_index(name, found):
            found = found[int(name)]
        else:
            there = _names_in(found, depth=depth, root=path.partition(".")[0])
            why = f"has no {_brief(name)!r}{there}"
            raise InvalidInputError(what=f"${{{_brief(path)}}}", why=why)
    return found


def _brief(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _names_in(found: Any, *, depth: int, root: str) -> str:
    """The names that are there; inside of what memory holds, these are memory too."""
    if root == _MEMORY and depth > _NAMED:
        return ""
    there = ", ".join(sorted(found)) if isinstance(found, Mapping) else "nothing by name"
    return f"; there is: {there or 'nothing'}"


def _is_index(name: str, found: Sequence[Any]) -> bool:
    is_number = len(name) <= _LONGEST_INDEX and name.isdecimal()  # Python reads no 5,000 digits
    return is_number and int(name) < len(found)
