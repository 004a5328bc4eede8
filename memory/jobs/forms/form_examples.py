"""An example of a payload that fits a form, for the command that resumes a job.

It guesses: what it makes is validated like any other payload, and where nothing fits there is no example. It decides
nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.form_costs import target_of, value_at
from mnestic.memory.jobs.forms.forms import PayloadChecker, is_bounded

_MOST_CHECKS = 200  # an example is made inside a workflow
_MOST_PATTERN_CHARS = 2_000  # compiled for all checks
_MOST_ITEMS = 10
_MOST_CANDIDATES = 40  # for a part of the form
_LONGEST_TEXT = 100  # characters
_DEEPEST = 8  # levels
_TEXTS = (
    "example",
    "a",
    "A",
    "Example",
    "EXAMPLE",
    "1",
    "EUR",
    "A1",
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "12:00:00Z",
    "example@example.com",
    "https://example.com/",
    "00000000-0000-4000-8000-000000000000",
    "+491234567890",
    "12345",
    "1234",
    "0.00",
    "",
)
_BY_FORMAT = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "example@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_KINDS = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


class Example(NamedTuple):
    """A payload that fits, which may be null."""

    payload: Any


def find_example(form: Mapping[str, Any]) -> Example | None:
    """A payload that fits a form, with what it requires and little else; None if none was found."""
    if not is_bounded(form):
        return None
    try:
        return _Maker(form).find()
    except (
        ArithmeticError,
        AttributeError,
        TypeError,
    ):  # a limit of 10 ** 400, a reference to no schema
        return None


class _Maker:
    def __init__(self, form: Mapping[str, Any]) -> None:
        self._form = form
        self._checks, self._pattern_chars = _MOST_CHECKS, _MOST_PATTERN_CHARS

    def find(self) -> Example | None:
        checker = self._checker(self._form)
        values = self._values(self._form, 0)
        return next((Example(value) for value in values if self._fits(value, checker)), None)

    def _checker(self, schema: Mapping[str, Any]) -> PayloadChecker | None:
        """What checks values against a schema; None once too much has been compiled."""
        if self._pattern_chars < 0:
            return None
        checker = PayloadChecker(schema)
        self._pattern_chars -= checker.pattern_chars
        return checker

    def _fits(self, value: Any, checker: PayloadChecker | None) -> bool:
        self._checks -= 1
        if self._checks < 0 or checker is None:
            return False
        try:
            checker.check(value)
        except InvalidInputError:
            return False
        return True

    def _values(self, schema: Any, depth: int) -> Iterator[Any]:
        """Values that may fit a schema, the likeliest first."""
        if depth > _DEEPEST or self._checks < 0 or schema is False:
            return
        if not isinstance(schema, Mapping):
            yield from _TEXTS[:1]
            return
        merged = self._merged(schema)
        for key in ("anyOf", "oneOf"):
            if isinstance(branches := merged.get(key), Sequence):
                rest = {name: value for name, value in merged.items() if name != key}
                for branch in branches:
                    yield from self._values({"allOf": [rest, branch]}, depth + 1)
                return
        if "const" in merged:
            yield merged["const"]
            return
        yield from _several(merged.get("enum"))
        yield from _several(merged.get("examples"))
        yield from [merged["default"]] if "default" in merged else []
        for kind in _kinds(merged):
            yield from self._of_kind(kind, merged, depth)

    def _merged(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema with what it refers to and all of `allOf` in it."""
        merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = list(schema.get("allOf") or ())
        if isinstance(reference := schema.get("$ref"), str):
            parts.append(value_at(self._form, target_of(reference)))
        for part in parts:
            if isinstance(part, Mapping):
                merged = _both(merged, self._merged(part))
        return merged

    def _of_kind(self, kind: str, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        match kind:
            case "object":
                yield from self._objects(schema, depth)
            case "array":
                yield from self._arrays(schema, depth)
            case "string":
                yield from _texts(schema)
            case "integer" | "number":
                yield from _numbers(schema, is_whole=kind == "integer")
            case "boolean":
                yield from (True, False)
            case "null":
                yield None

    def _objects(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        properties = schema.get("properties") or {}
        required = list(schema.get("required") or ())
        dependent = schema.get("dependentRequired") or {}
        required += [name for by in required for name in dependent.get(by, ()) if by in dependent]
        more = [name for name in properties if name not in required]
        for names in (
            required,
            [*required, *more[: int(schema.get("minProperties", 0))]],
            [*required, *more],
        ):
            yield {name: self._likeliest(properties.get(name, {}), depth + 1) for name in names}

    def _arrays(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        first = [self._likeliest(part, depth + 1) for part in schema.get("prefixItems") or ()]
        if "contains" in schema:
            first.append(self._likeliest(schema["contains"], depth + 1))
        count = max(int(schema.get("minItems", 0)) - len(first), 0)
        if count > _MOST_ITEMS:
            return
        most = count if schema.get("uniqueItems") else min(count, 1)
        items = list(self._fitting(schema.get("items", {}), depth + 1, most=most))
        yield first + (items * count)[:count]

    def _likeliest(self, schema: Any, depth: int) -> Any:
        """The first value that fits a part of the form by itself, else the first one."""
        return next(self._fitting(schema, depth, most=1), None)

    def _fitting(self, schema: Any, depth: int, *, most: int) -> Iterator[Any]:
        """The first values that fit a part of the form by itself; if none does, the first one."""
        defs = {key: self._form[key] for key in ("$defs", "definitions") if key in self._form}
        checker = self._checker({**schema, **defs} if isinstance(schema, Mapping) else {})
        first: list[Any] = []
        found: list[Any] = []
        for value in islice(self._values(schema, depth), _MOST_CANDIDATES if most else 0):
            first = first or [value]
            if self._fits(value, checker):
                found.append(value)
            if len(found) == most:
                break
        yield from found or first


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What two schemas ask for together, as far as an example needs it."""
    both = {**other, **one}
    if "properties" in one and "properties" in other:
        both["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return both


def _kinds(schema: Mapping[str, Any]) -> Sequence[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, Sequence):
        return kind
    found = [kind for kind, keys in _KINDS.items() if any(key in schema for key in keys)]
    return [*found, "string", "object", "integer"]


def _several(values: Any) -> Iterator[Any]:
    yield from values[:5] if isinstance(values, list | tuple) else ()


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    least = schema.get("minLength", 0)
    most = min(schema.get("maxLength", _LONGEST_TEXT), _LONGEST_TEXT)
    if least > _LONGEST_TEXT:
        return
    by_format = _BY_FORMAT.get(str(schema.get("format")))
    for text in (by_format, *_TEXTS):
        if text is not None:
            longer = text + (text or "x") * int(least)
            yield longer[: int(max(least, min(len(text), most)))]


def _numbers(schema: Mapping[str, Any], *, is_whole: bool) -> Iterator[Any]:
    step = schema.get("multipleOf", 1)
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    yield from (1, 0)
    for bound in (least, most):
        yield from (
            () if bound is None else (bound, (bound // step) * step, (bound // step + 1) * step)
        )
    if above is not None:
        yield (above // step + 1) * step
        yield from () if is_whole or below is None else ((above + below) / 2,)
    if below is not None:
        yield (below // step) * step
        yield (below // step - 1) * step
    yield from () if is_whole else (0.5,)
    yield step
