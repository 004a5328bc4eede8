"""One value of the maintenance policy changed, or refused with its path and what is allowed.

Workflows and activities only read the policy.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.policies import (
    MAINTENANCE_KINDS,
    MaintenanceKind,
    MaintenancePolicy,
    ScheduleTimes,
)
from mnestic.memory.validation import problem_of


def changed_policy(stored: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The policy with one value changed, as the tenant's setting stores it: without what has its default.

    Only the section of the value has to be valid, so that values which another version has stored can be
    set again one by one.

    Args:
        stored: The setting so far; `{}` if there is none.
        path: The names that lead to the value, with dots, such as `nightly.times.hour`.
        value: The value, as JSON has it.

    Raises:
        InvalidInputError: nothing has that path, or it cannot have that value; says what is allowed.
    """
    document = _completed(MaintenancePolicy, stored)
    *above, last = path.split(".")
    place: Any = document
    for name in above:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        why = f"is not known; there are {', '.join(paths_of(document))}"
        raise InvalidInputError(what=f"maintenance policy {path[:140]}", why=why)
    _check_complete(path, before=place[last], value=value)
    place[last] = value
    section = path.partition(".")[0]
    try:
        # Strictly, as JSON: true is no number, and "4" is none either.
        changed = MaintenancePolicy.model_validate_json(
            to_json({section: document[section]}), strict=True
        )
        _check_day(changed, kind=section)
    except ValidationError as error:
        raise _refused(path, value, problem_of(error).removeprefix(f"{path}: ")) from None
    except (PydanticSerializationError, UnicodeError):
        raise _refused(path, value, "is no JSON") from None
    except ValueError as error:
        raise _refused(path, value, str(error)) from None
    others = {name: other for name, other in stored.items() if name != section}
    return others | changed.model_dump(mode="json", exclude_defaults=True)


def kind_of_times(path: str) -> MaintenanceKind | None:
    """The kind of maintenance whose Schedule follows from the value at a path, if one does."""
    section, *below = path.split(".")
    follows = not below or below[0] == "times"
    return next((kind for kind in MAINTENANCE_KINDS if kind == section and follows), None)


def _completed(model: type[BaseModel], stored: Any) -> dict[str, Any]:
    """All values of a policy or a section as JSON: those that are stored, valid or not, and the defaults of the others."""
    given = stored if isinstance(stored, Mapping) else {}
    document = model().model_dump(mode="json")
    for name, field in model.model_fields.items():
        if name in given:
            part: Any = field.annotation
            is_section = isinstance(part, type) and issubclass(part, BaseModel)
            document[name] = _completed(part, given[name]) if is_section else given[name]
    return document


def _refused(path: str, value: Any, why: str) -> InvalidInputError:
    return InvalidInputError(
        what=f"maintenance policy {path}", why=f"cannot be {value!r:.60}: {why}"
    )


def _check_complete(path: str, *, before: Any, value: Any) -> None:
    """A whole section needs all its values, since one left out would silently have its default again."""
    if isinstance(before, dict) and isinstance(value, dict):
        missing = [name for name in paths_of(before) if name not in paths_of(value)]
        if missing:
            why = f"a section needs all its values, and {', '.join(missing)} are missing; set one value, such as {path}.{missing[0]}"
            raise _refused(path, value, why)


def _check_day(policy: MaintenancePolicy, *, kind: str) -> None:
    """The weekly and the monthly maintenance name a day, or they would run every day."""
    if kind in {"weekly", "monthly"}:
        times: ScheduleTimes = getattr(policy, kind).times
        if times.day_of_week is None and times.day_of_month is None:
            raise ValueError(
                f"{kind} would run every day; set {kind}.times.day_of_week or {kind}.times.day_of_month"
            )


def paths_of(document: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The values of a policy as JSON, each under its path."""
    values: dict[str, Any] = {}
    for name, value in document.items():
        path = before + name
        values |= paths_of(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return values
