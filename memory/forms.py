"""Forms: what the payload of a resume must look like, as JSON Schema.

They stand apart from the waits, so that a plan's check, a resume and a person who is asked go by the
same words. A form decides inside workflows, so what it says of a payload must never change: formats
are not checked, regular expressions run in linear time, and nothing is fetched.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError
from pydantic import BaseModel, ConfigDict

from mnestic.memory.canonical import canonical_json, check_json
from mnestic.memory.errors import InvalidInputError

LARGEST_FORM_BYTES = 16_384
_MOST_REFERENCES = (
    32  # in no circle, so 3 ** (32 / 3) steps are the most for each value of a payload
)
_ELSEWHERE = {
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
Path = tuple[str, ...]
_PROBLEMS_TOLD = 3
_LONGEST_WHY = 200  # characters


class FormField(BaseModel):
    """One field of a payload, as a person is told of it."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    required: bool


def check_form(form: Mapping[str, Any]) -> None:
    """Refuses what is no JSON Schema, or asks for more than a form may.

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
    _validator(form)


def check_payload(form: Mapping[str, Any], payload: Any) -> None:
    """Refuses a payload that does not fit its form.

    Raises:
        InvalidInputError: tells the first problems: where, what is there, and what is allowed.
    """
    problems = sorted(
        (_place("payload", error.instance_path), _short(error.message))
        for error in _validator(form).iter_errors(payload)
    )
    if not problems:
        return
    (what, why), *others = problems[:_PROBLEMS_TOLD]
    more = [f"{place}: {message}" for place, message in others]
    if len(problems) > _PROBLEMS_TOLD:
        more.append(f"and {len(problems) - _PROBLEMS_TOLD} more")
    raise InvalidInputError(what=what, why="; ".join([why, *more]))


def form_fields(form: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The fields at the top of a form; the payload itself if the form names none."""
    properties, required = _mapping(form.get("properties")), form.get("required") or ()
    fields = tuple(
        FormField(name=name, kind=_kind(properties.get(name)), required=name in required)
        for name in dict.fromkeys([*properties, *required])
    )
    return fields or (FormField(name="payload", kind=_kind(form), required=True),)


def _validator(form: Mapping[str, Any]) -> Any:
    try:
        return Draft202012Validator(
            dict(form), offline=True, validate_formats=False, pattern_options=RegexOptions()
        )
    except ValidationError as error:
        place, why = _place("form", error.instance_path), _short(error.message)
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
    if reference == "#":
        return ()
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise InvalidInputError(what="form", why=f"refers to {reference!r}; only #/… is allowed")
    parts = unquote(reference[2:]).split("/")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


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
