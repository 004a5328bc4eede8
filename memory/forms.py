"""Forms: what the payload of a resume must look like, as JSON Schema.

They stand apart from the waits, so that a plan's check, a resume and a person who is asked go by the
same words. A form decides inside workflows, so what it says of a payload must never change: formats
are not checked, regular expressions run in linear time, and nothing is fetched.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema_rs import RegexOptions, ValidationError, validator_for
from pydantic import BaseModel, ConfigDict

from mnestic.memory.canonical import canonical_json, check_json
from mnestic.memory.errors import InvalidInputError

LARGEST_FORM_BYTES = 16_384
_MOST_REFERENCES = 32  # each may be followed twice, and so on: 3 ** (32 / 3) steps are the most
_REFERENCES = {"$ref", "$dynamicRef", "$recursiveRef"}
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
    references = _references(form)
    if references > _MOST_REFERENCES:
        why = f"has {references} references, at most {_MOST_REFERENCES} are allowed"
        raise InvalidInputError(what="form", why=why)
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
        return validator_for(
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


def _references(value: Any) -> int:
    return sum(1 for key in _keys(value) if key in _REFERENCES)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
        for item in value.values():
            yield from _keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _keys(item)


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
