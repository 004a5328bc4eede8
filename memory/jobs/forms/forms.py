"""Forms: what the payload of a resume must look like, as JSON Schema.

A plan's check, a resume and a person who is asked go by the same words. A form decides inside workflows, so what it
says of a payload must never change: formats are not checked, regular expressions run in linear time, and nothing is
fetched. Nor may it hold a workflow for long: `form_costs` works out what a form can take, and here are the limits.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError
from pydantic import ConfigDict

from mnestic.memory.canonical import canonical_json, check_json
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.form_costs import (
    LARGEST_PATTERN_BYTES,
    MOST_PATTERN_CHARS,
    FormCosts,
    Path,
    count_values,
    payload_cost,
    quoted_bytes,
    target_of,
)

LARGEST_FORM_BYTES = 16_384
_MOST_STEPS = 5_000  # of a form; one that is written out without references hardly reaches it
_MOST_WORK = 20_000_000  # steps of a form on a payload: 0.6 s; a workflow's task may take 2 s
_MOST_ERRORS = 20_000  # that jsonschema-rs may collect
_MOST_ERROR_BYTES = 10_000_000  # of the values that these quote, of the payload and of the form
_CHAR_BYTES = 4  # a text of Python takes up to so many for a character
_MOST_REFERENCES = 32
_ELSEWHERE = {
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_MAX_PROBLEMS = 3
_LONGEST_WHY = 200  # characters


class FormField(DeferredModel):
    """One field of a payload, as it is shown to a person."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    required: bool


def check_form(form: Mapping[str, Any], *, bounded: bool = True) -> None:
    """Refuses what is no JSON Schema, or asks for more than a form may.

    Args:
        form: A JSON Schema.
        bounded: Whether the cost of validation is limited; for jobs of older versions it is not.

    Raises:
        InvalidInputError: names the place and what is wrong there.
    """
    check_json(form, what="form")
    size = len(canonical_json(form))
    if size > LARGEST_FORM_BYTES:
        why = f"is {size} bytes, at most {LARGEST_FORM_BYTES} are allowed"
        raise InvalidInputError(what="form", why=why)
    if form.get("$schema", _DRAFT) != _DRAFT:
        raise InvalidInputError(what="form.$schema", why=f"is not {_DRAFT}, which forms follow")
    _check_references(form)
    if not bounded:
        _validator(form)
        return
    costs = FormCosts(form)
    if costs.cost.total > _MOST_STEPS:
        if costs.pattern_chars <= MOST_PATTERN_CHARS:
            _validator(form, pattern_bytes=LARGEST_PATTERN_BYTES)  # says so of what is no pattern
        place, steps = costs.smallest_above(_MOST_STEPS)
        why = (
            f"takes {steps} steps to validate with its references followed, at most {_MOST_STEPS} are "
            "allowed; refer less often, nest unevaluated… less, or repeat less in patterns, which have at "
            f"most {MOST_PATTERN_CHARS} characters together"
        )
        raise InvalidInputError(what=_place("form", place), why=why)
    _validator(form, pattern_bytes=LARGEST_PATTERN_BYTES)


def is_bounded(form: Mapping[str, Any]) -> bool:
    """Whether validation against a form is within the limits of `check_form`."""
    return FormCosts(form).cost.total <= _MOST_STEPS


def check_payload(form: Mapping[str, Any], payload: Any) -> None:
    """Refuses a payload that does not fit its form.

    Raises:
        InvalidInputError: tells the first problems: where, what is there, and what is allowed.
    """
    PayloadChecker(form).check(payload)


class PayloadChecker:
    """Checks payloads against one form, which is compiled once; `what` names a payload in errors."""

    def __init__(
        self, form: Mapping[str, Any], *, what: str = "payload", checks_formats: bool = False
    ) -> None:
        self._what = what
        self._costs = FormCosts(form)
        self._quoted_bytes = quoted_bytes(form)
        self._validator = _validator(form, checks_formats=checks_formats)

    @property
    def pattern_chars(self) -> int:
        """Characters of the form's patterns; compiling them takes most of the time."""
        return self._costs.pattern_chars

    def check(self, payload: Any) -> None:
        """Refuses a payload that does not fit.

        Raises:
            InvalidInputError: tells the first problems: where, what is there, and what is allowed.
        """
        cost, size = self._costs.cost, _size_of(payload, what=self._what)
        if cost.rate * payload_cost(payload, size_bytes=size, compares=cost.compares) > _MOST_WORK:
            why = f"is {size} bytes, which is too much for what its form checks; send less, or a reference"
            raise InvalidInputError(what=self._what, why=why)
        if self._validator.is_valid(payload):
            return
        problems = sorted(
            (_place(self._what, error.instance_path), _short(error.message))
            for error in self._errors(payload, size_bytes=size)
        )
        if not problems:
            why = "does not fit its form, in more places than can be looked through"
            raise InvalidInputError(what=self._what, why=why)
        (what, why), *others = problems[:_MAX_PROBLEMS]
        more = [f"{place}: {message}" for place, message in others]
        if len(problems) > _MAX_PROBLEMS:
            more.append(f"and {len(problems) - _MAX_PROBLEMS} more")
        raise InvalidInputError(what=what, why="; ".join([why, *more]))

    def _errors(self, payload: Any, *, size_bytes: int) -> Sequence[ValidationError]:
        """The errors of a payload: all where these are few, else the first, or none if it brings too many along."""
        cost, values = self._costs.cost, count_values(payload)
        # jsonschema-rs collects all of them, whether they are looked at or not.
        if self._are_few(cost.total, values, size_bytes):
            return tuple(self._validator.iter_errors(payload))
        # An error of `anyOf` holds those of all its branches.
        if not self._are_few(cost.branches, values, size_bytes):
            return ()
        try:
            self._validator.validate(payload)
        except ValidationError as error:
            return (error,)
        return ()

    def _are_few(self, steps: int, values: int, size_bytes: int) -> bool:
        """Whether the errors of so many steps on so many values are few and small enough to be collected."""
        count = steps * values
        quoted = steps * size_bytes + count * self._quoted_bytes * _CHAR_BYTES
        return count <= _MOST_ERRORS and quoted <= _MOST_ERROR_BYTES


def _size_of(payload: Any, *, what: str) -> int:
    try:
        return len(canonical_json(payload))
    except (ValueError, RecursionError):
        check_json(payload, what=what)  # tells where it is no JSON
        raise


def form_fields(form: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The fields at the top of a form; the payload itself if the form names none."""
    properties, required = _mapping(form.get("properties")), form.get("required") or ()
    fields = tuple(
        FormField(name=name, kind=_kind(properties.get(name)), required=name in required)
        for name in dict.fromkeys([*properties, *required])
    )
    return fields or (FormField(name="payload", kind=_kind(form), required=True),)


def _validator(
    form: Mapping[str, Any], *, pattern_bytes: int | None = None, checks_formats: bool = False
) -> Any:
    try:
        return Draft202012Validator(
            dict(form),
            offline=True,
            validate_formats=checks_formats,
            pattern_options=RegexOptions(size_limit=pattern_bytes),
        )
    except ValidationError as error:
        place, why = _place("form", error.instance_path), _short(error.message)
        if pattern_bytes is not None and why.endswith('is not a "regex"'):
            why = f"{why}, or one that compiles to more than {pattern_bytes} bytes"
    except ValueError as error:
        place, why = "form", _short(str(error))
    raise InvalidInputError(what=place, why=why)


def _place(root: str, path: Sequence[str | int]) -> str:
    return root + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _short(message: str) -> str:
    return message if len(message) <= _LONGEST_WHY else f"{message[:_LONGEST_WHY]}…"


def _check_references(form: Mapping[str, Any]) -> None:
    """Refuses references that lead in a circle: a small payload could then take a worker's memory.

    Raises:
        InvalidInputError: there are such, or too many, or some that are not plain `#/…`.
    """
    found = [(path, key, value) for path, key, value in _entries(form)]
    elsewhere = sorted(
        {key for path, key, _ in found if key in _ELSEWHERE and (path or key != "$id")}
    )
    if elsewhere:
        why = f"has {elsewhere[0]}; only $ref is allowed, as #/…"
        raise InvalidInputError(what="form", why=why)
    targets = {path: _target(value) for path, key, value in found if key == "$ref"}
    if len(targets) > _MOST_REFERENCES:
        why = f"has {len(targets)} references, at most {_MOST_REFERENCES} are allowed"
        raise InvalidInputError(what="form", why=why)
    for target in targets.values():
        if target in _reached(target, targets):
            why = f"its reference #/{'/'.join(target)} leads in a circle; write it out to the depth you need"
            raise InvalidInputError(what="form", why=why)


def _reached(start: Path, targets: Mapping[Path, Path]) -> set[Path]:
    """The places that references lead to from inside a place."""
    reached: set[Path] = set()
    ahead = [start]
    while ahead:
        inside = ahead.pop()
        for path, target in targets.items():
            if path[: len(inside)] == inside and target not in reached:
                reached.add(target)
                ahead.append(target)
    return reached


def _target(reference: Any) -> Path:
    """Where a reference leads.

    Raises:
        InvalidInputError: not into the form itself.
    """
    is_inside = isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))
    if not is_inside:
        raise InvalidInputError(what="form", why=f"refers to {reference!r}; only #/… is allowed")
    return target_of(reference)


def _entries(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, Any]]:
    """Each key with its value, and the path of the object that it is in."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key, item
            yield from _entries(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _entries(item, (*path, str(index)))


def _kind(schema: Any) -> str:
    """What a value may be, in a few words."""
    schema = _mapping(schema)
    if "const" in schema:
        return _short(str(schema["const"]))
    if "enum" in schema:
        return _short(" or ".join(str(value) for value in schema["enum"]))
    kinds = schema.get("type", "any value")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
