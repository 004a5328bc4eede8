"""One value of the maintenance policy changed, or refused with its path and what is allowed.

It stands apart from the policy because workflows and activities only read that.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.policies import MaintenancePolicy, ScheduleTimes
from mnestic.memory.validation import problem_of


def changed_policy(policy: MaintenancePolicy, path: str, value: Any) -> MaintenancePolicy:
    """The policy with one value changed.

    Args:
        policy: The policy in force.
        path: The names that lead to the value, with dots, such as `nightly.times.hour`.
        value: The value, as JSON has it.

    Raises:
        InvalidInputError: nothing has that path, or it cannot have that value; says what is allowed.
    """
    document = policy.model_dump(mode="json")
    *above, last = path.split(".")
    place: Any = document
    for name in above:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        why = f"is not known; there are {', '.join(paths_of(document))}"
        raise InvalidInputError(what=f"maintenance policy {path[:140]}", why=why)
    _check_complete(path, before=place[last], value=value)
    place[last] = value
    try:
        # Strictly, as JSON: true is no number, and "4" is none either.
        changed = MaintenancePolicy.model_validate_json(to_json(document), strict=True)
        _check_day(changed, kind=path.partition(".")[0])
    except ValidationError as error:
        raise _refused(path, value, problem_of(error).removeprefix(f"{path}: ")) from None
    except (PydanticSerializationError, UnicodeError):
        raise _refused(path, value, "is no JSON") from None
    except ValueError as error:
        raise _refused(path, value, str(error)) from None
    return changed


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
