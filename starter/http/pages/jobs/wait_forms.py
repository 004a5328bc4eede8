"""The form of a wait as fields of a web page, and what a person wrote into them as the payload.

Pure, and apart from the pages, since a JSON Schema says more than a web form can: what has no field of its own is written as JSON, and
the job checks the payload against the whole form.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from mnestic.memory.errors import InvalidInputError

Control = Literal["text", "number", "checkbox", "choice", "json"]
_PREFIX = "field."  # of the names of fields, which share the page's form with others
_CONTROLS: Mapping[Any, Control] = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "checkbox",
}


class WaitField(NamedTuple):
    """A field of a page."""

    name: str
    label: str
    control: Control
    required: bool
    help: str
    choices: tuple[Any, ...] = ()
    step: str = "any"


def fields_of(form: Mapping[str, Any] | None) -> tuple[WaitField, ...]:
    """The fields for a payload: one for each property at the top of the form, required ones first, or one for all of it.

    The order in which the plan has them is not stored.
    """
    if not form:
        return (WaitField(f"{_PREFIX}", "Answer", "text", required=False, help=""),)
    properties = form.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return (_field("", form, required=True),)
    required = form.get("required") or ()
    names = sorted(properties, key=lambda name: (name not in required, name))
    return tuple(
        _field(
            name,
            schema if isinstance(schema := properties[name], Mapping) else {},
            required=name in required,
        )
        for name in names
    )


def payload_of(form: Mapping[str, Any] | None, values: Mapping[str, str]) -> Any:
    """What was written into the fields, as the form wants it; nothing of an optional field that is empty.

    Raises:
        InvalidInputError: a number or JSON is malformed.
    """
    read = {
        field.name.removeprefix(_PREFIX): value
        for field in fields_of(form)
        if (value := _read(field, values.get(field.name, ""))) is not None
    }
    return read.get("") if fields_of(form)[0].name == _PREFIX else read


def _field(name: str, schema: Mapping[str, Any], *, required: bool) -> WaitField:
    choices = tuple(schema["enum"]) if isinstance(schema.get("enum"), list) else ()
    kind = schema.get("type")
    control = (
        "choice" if choices else _CONTROLS.get(kind if isinstance(kind, str) else None, "json")
    )
    return WaitField(
        name=f"{_PREFIX}{name}",
        label=str(schema.get("title") or name.replace("_", " ").capitalize() or "Answer"),
        control=control,
        required=required,
        help=str(schema.get("description", "")),
        choices=choices,
        step="1" if kind == "integer" else "any",
    )


def _read(field: WaitField, text: str) -> Any:
    if field.control == "checkbox":
        return text == "on"
    if text == "" and not (field.required and field.control == "text"):
        return None
    if field.control == "text":
        return text
    if field.control == "choice":
        return next((one for one in field.choices if json.dumps(one) == text), text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        what = "a number" if field.control == "number" else "JSON"
        raise InvalidInputError(what=field.label, why=f"is not {what}") from None
