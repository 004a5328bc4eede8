"""What the payload of a wait has to be: a form, or a Python type that gives one.

Both are checked by a workflow, which must decide as it did in an earlier version.
"""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from temporalio import workflow

from mnestic.memory.jobs.forms.forms import check_form, is_bounded

_BOUNDED_FORMS = "bounded-forms"  # the patch: runs before it may have costlier forms


def checked_form(
    form: dict[str, Any] | None, adapter: TypeAdapter[Any] | None
) -> dict[str, Any] | None:
    """The form of a wait, or that of its type.

    Raises:
        InvalidInputError: it is no form, or costs too much to validate.
    """
    if form is None and adapter is not None:
        form = adapter.json_schema()
    if form is not None:
        check_form(form, bounded=is_bounded(form) or workflow.patched(_BOUNDED_FORMS))
    return form


def type_mismatch(adapter: TypeAdapter[Any] | None, payload: Any) -> str | None:
    """What keeps a payload from being of its type, or None."""
    try:
        if adapter is not None:
            adapter.validate_python(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(("payload", *(str(part) for part in first["loc"])))
        return f"{where}: {first['msg']}"
    return None
