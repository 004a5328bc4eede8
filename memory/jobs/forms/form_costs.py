"""What validation against a form can cost, worked out from the form before anything is validated.

The forms say what is right; this bounds time and memory. JSON Schema is small to write and large to follow: references
that double, nested `unevaluatedProperties` and counted repetitions in patterns grow exponentially with the length of a
form.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from mnestic.memory.canonical import canonical_json

Path = tuple[str, ...]

LARGEST_PATTERN_BYTES = 1_000_000  # compiled; 1 MB is matched at up to 0.1 ms a character
_PATTERN_STEPS = {10_000: 30, 100_000: 300, LARGEST_PATTERN_BYTES: 3_000, 10_000_000: 30_000}
_MOST_PATTERN_STEPS = 100_000  # no pattern is compiled above it; the form is too costly already
MOST_PATTERN_CHARS = 1_000  # of all patterns together; a character may take 0.3 ms to compile
_FRACTION_STEPS = 100  # `multipleOf: 0.01` takes 16 microseconds for 1e308
_TINY_FRACTION_STEPS = 500  # and 5e-324 takes 74
_TINY = 1e-9
_UNEVALUATED = 3  # each level of `unevaluated…` evaluates all below it 2.7 times
_WORD_BITS = 63  # integers above it have one hash in jsonschema-rs, so `uniqueItems` compares pairs
_PAIR_STEPS = 4  # for each decimal digit of such a pair

_HERE = ("$ref", "not", "if", "then", "else")  # apply to the value itself
_HERE_EACH = ("allOf", "anyOf", "oneOf", "dependentSchemas")
_BELOW = (
    "additionalProperties",
    "items",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)
_BELOW_EACH = ("patternProperties",)
_ONE_BELOW = ("properties", "prefixItems")  # of these, one applies to a value
_WHOLE_VALUE = ("const", "enum", "uniqueItems")  # look at a value with all that is in it
_QUOTED = ("const", "enum", "required", "dependentRequired", "pattern", "type")
_NOT_FOLLOWED = ("$defs", "definitions", "default", "examples")


class FormCost(NamedTuple):
    """Steps of validation, at about 30 nanoseconds each for a byte of the payload.

    Attributes:
        total: All steps with references followed; also the most errors that one value can give.
        here: Steps at one value.
        below: Steps at one value inside of it, the most.
        whole: Steps for a value and again for all values inside of it.
        branches: Steps under `anyOf` and `oneOf`, whose errors jsonschema-rs collects.
        compares: Whether there is `uniqueItems`.
    """

    total: int = 0
    here: int = 0
    below: int = 0
    whole: int = 0
    branches: int = 0
    compares: bool = False

    @property
    def rate(self) -> int:
        """Steps for a byte of a payload, the most."""
        return max(self.here, self.below) + self.whole

    def plus(self, other: "FormCost") -> "FormCost":
        """Both together."""
        return FormCost(
            self.total + other.total,
            self.here + other.here,
            self.below + other.below,
            self.whole + other.whole,
            self.branches + other.branches,
            self.compares or other.compares,
        )

    def times(self, factor: int) -> "FormCost":
        """So many times."""
        return FormCost(
            self.total * factor,
            self.here * factor,
            self.below * factor,
            self.whole * factor,
            self.branches * factor,
            self.compares,
        )

    def one_level_down(self) -> "FormCost":
        """The cost as a value sees it that holds the values which this is of."""
        return self._replace(here=0, below=self.rate, whole=0)


_ENDLESS = FormCost(10**18, 10**18, 10**18, 10**18, 10**18)


class FormCosts:
    """The costs of a form and of each place in it."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        """Follows the form's references; those that lead in a circle cost more than any limit."""
        self._form = form
        self._patterns: dict[str, int] = {}
        self.pattern_chars = 0
        self._places: dict[Path, FormCost] = {}
        self.cost = self._at(())

    def smallest_above(self, limit: int) -> tuple[Path, int]:
        """The part of the form that is just over a limit, and its total."""
        over = [
            (cost.total, len(path), path)
            for path, cost in self._places.items()
            if cost.total > limit
        ]
        total, _, path = min(over)
        return path, total

    def _at(self, path: Path) -> FormCost:
        """The cost of the schema at a place, worked out once."""
        if path not in self._places:
            self._places[path] = _ENDLESS  # for references back to where they are
            schema = value_at(self._form, path)
            is_schema = isinstance(schema, Mapping)
            self._places[path] = self._of(schema, path) if is_schema else FormCost(1, 1)
        return self._places[path]

    def _of(self, schema: Mapping[str, Any], path: Path) -> FormCost:
        cost = FormCost(1, 1)
        for key, value in schema.items():
            cost = cost.plus(self._of_keyword(key, value, (*path, key)))
        if any(key in schema for key in ("unevaluatedProperties", "unevaluatedItems")):
            cost = cost.times(_UNEVALUATED)
        return cost

    def _of_keyword(self, key: str, value: Any, path: Path) -> FormCost:
        if key in _NOT_FOLLOWED:
            return FormCost()
        if key in (*_HERE_EACH, *_HERE):
            cost = self._sum_of(key, value, path)
            return cost._replace(branches=cost.total) if key in ("anyOf", "oneOf") else cost
        if key in (*_BELOW_EACH, *_BELOW):
            cost = self._sum_of(key, value, path).one_level_down()
            return cost.plus(self._of_patterns(value)) if key == "patternProperties" else cost
        if key in _ONE_BELOW:
            costs = [self._at(inside) for inside in _inside(value, path)]
            cost = sum_of(costs)
            below = max((each.rate for each in costs), default=0)
            return cost._replace(here=len(costs), below=below, whole=0)
        return self._of_rule(key, value)

    def _sum_of(self, key: str, value: Any, path: Path) -> FormCost:
        if key == "$ref":
            return self._at(target_of(value)) if isinstance(value, str) else FormCost(1, 1)
        if key in (*_HERE_EACH, *_BELOW_EACH):
            return sum_of([self._at(inside) for inside in _inside(value, path)])
        return self._at(path)

    def _of_rule(self, key: str, value: Any) -> FormCost:
        """The cost of a keyword that holds no schema."""
        steps = sum(1 for _ in _values(value))
        if key == "pattern":
            steps += self._of_patterns([value]).here
        if key == "multipleOf" and isinstance(value, float) and not value.is_integer():
            steps += _FRACTION_STEPS if value >= _TINY else _TINY_FRACTION_STEPS
        if key in _WHOLE_VALUE:
            return FormCost(steps, whole=steps, compares=key == "uniqueItems")
        return FormCost(steps, steps)

    def _of_patterns(self, patterns: Any) -> FormCost:
        steps = sum(self._pattern_steps(text) for text in patterns if isinstance(text, str))
        return FormCost(steps, steps)

    def _pattern_steps(self, pattern: str) -> int:
        if pattern not in self._patterns:
            self.pattern_chars += len(pattern)
            is_over = self.pattern_chars > MOST_PATTERN_CHARS
            is_over |= sum(self._patterns.values()) > _MOST_PATTERN_STEPS
            self._patterns[pattern] = _MOST_PATTERN_STEPS if is_over else _compiled_steps(pattern)
        return self._patterns[pattern]


def payload_cost(payload: Any, *, size_bytes: int, compares: bool) -> int:
    """The bytes of a payload, and what comparing its long integers takes, in steps."""
    if not compares:
        return size_bytes
    long = [
        value.bit_length()
        for value in _values(payload)
        if isinstance(value, int) and value.bit_length() > _WORD_BITS
    ]
    return size_bytes + len(long) * sum(long) * _PAIR_STEPS // 3  # a digit has 3.3 bits


def count_values(payload: Any) -> int:
    """How many values a payload has, those inside of others too."""
    return sum(1 for _ in _values(payload))


def quoted_bytes(form: Any) -> int:
    """The largest value of a form that an error quotes as a whole, in bytes."""
    sizes = [
        len(canonical_json(value))
        for part in _values(form)
        if isinstance(part, Mapping)
        for key, value in part.items()
        if key in _QUOTED
    ]
    return max(sizes, default=0)


def target_of(reference: str) -> Path:
    """The place that a reference such as `#/$defs/a` leads to."""
    parts = unquote(reference).split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def sum_of(costs: Sequence[FormCost]) -> FormCost:
    """All of them together."""
    total = FormCost()
    for cost in costs:
        total = total.plus(cost)
    return total


def _compiled_steps(pattern: str) -> int:
    """How many steps a pattern takes for a character; more than any limit if it is too large, or none."""
    for size, steps in _PATTERN_STEPS.items():
        try:
            Draft202012Validator(
                {"pattern": pattern}, pattern_options=RegexOptions(size_limit=size), offline=True
            )
        except ValidationError:
            continue
        return steps
    return _MOST_PATTERN_STEPS


def _inside(value: Any, path: Path) -> Iterator[Path]:
    """The places of what an object or a list holds."""
    if isinstance(value, Mapping):
        yield from ((*path, name) for name in value)
    elif isinstance(value, list | tuple):
        yield from ((*path, str(index)) for index in range(len(value)))


def _values(value: Any) -> Iterator[Any]:
    """A value and all values inside of it."""
    yield value
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _values(item)


def value_at(form: Any, path: Path) -> Any:
    """What is at a place, or None."""
    for part in path:
        if isinstance(form, Mapping):
            form = form.get(part)
        elif isinstance(form, list | tuple) and part.isdecimal() and len(part) < 6:  # noqa: PLR2004 - digits
            form = form[int(part)] if int(part) < len(form) else None
        else:
            return None
    return form
