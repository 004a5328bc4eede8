"""The policy of maintenance as a form: a field for each value, made from the model, and a refusal beside its field."""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import groupby
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.maintenance.policies import MaintenancePolicy
from mnestic.memory.maintenance.policy_changes import paths_of
from mnestic.starter.http.pages.maintenance import MAINTENANCE, AdminCall, ReportsCall
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
POLICY = f"{MAINTENANCE}/policy"
_SCHEMA = MaintenancePolicy.model_json_schema()
_NUMBERS = frozenset({"integer", "number"})


class PolicyField(NamedTuple):
    """A field: a value of the policy by its path, as a person may write it, and why what was written is refused."""

    path: str
    schema: Mapping[str, Any]
    optional: bool
    text: str
    refusal: str | None = None

    @property
    def section(self) -> str:
        """The part of the policy that the field is in; that of values at the top has no name."""
        return self.path.rpartition(".")[0]

    @property
    def kind(self) -> str:
        """The type of the value: boolean, integer, number or string."""
        return str(self.schema["type"])

    def read(self, text: str) -> Any:
        """What was written, as JSON has it.

        Raises:
            InvalidInputError: it is no number.
        """
        if self.kind == "boolean":
            return text == "true"
        if self.optional and text == "":
            return None
        if self.kind not in _NUMBERS:
            return text
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidInputError(what=self.path, why="is not a number") from None


@router.get(POLICY)
async def show(request: Request, call: ReportsCall) -> Response:
    """The policy in force."""
    fields = _fields_of(await call.client.maintenance.policy())
    return _form(request, fields, status=HTTPStatus.OK)


@router.post(POLICY)
async def save(request: Request, call: AdminCall) -> Response:
    """Sets the values that differ, each by itself: a refused one stands beside its field, and leaves the others set."""
    written = {name: str(value) for name, value in (await request.form()).items()}
    maintenance = call.client.maintenance
    refused: dict[str, PolicyField] = {}
    for field in _fields_of(await maintenance.policy()):
        text = written.get(field.path, "").strip()
        if f"has.{field.path}" not in written or text == field.text:
            continue
        try:
            await maintenance.set_policy(field.path, field.read(text))
        except InvalidInputError as error:
            refused[field.path] = field._replace(text=text, refusal=error.why)
    if not refused:
        return back_to(POLICY, done="policy_saved")
    fields = [refused.get(one.path, one) for one in _fields_of(await maintenance.policy())]
    return _form(request, fields, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _form(request: Request, fields: list[PolicyField], *, status: HTTPStatus) -> Response:
    by_section = sorted(fields, key=lambda field: (_place(field.section), field.section))
    sections = {
        name: list(group) for name, group in groupby(by_section, lambda field: field.section)
    }
    return render(request, "policy.html", status=status, sections=sections)


def _place(section: str) -> int:
    """Sections in the order of the model; the values at the top come first."""
    names = list(MaintenancePolicy.model_fields)
    return 1 + names.index(section.partition(".")[0]) if section else 0


def _fields_of(policy: MaintenancePolicy) -> list[PolicyField]:
    values = paths_of(policy.model_dump(mode="json"))
    return [_field(path, value) for path, value in values.items()]


def _field(path: str, value: Any) -> PolicyField:
    schema: Mapping[str, Any] = _SCHEMA
    for name in path.split("."):
        schema = _resolved(schema)["properties"][name]
    options = [one for one in _options(schema) if one.get("type") != "null"]
    chosen = {**schema, **options[0]}
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return PolicyField(path, chosen, optional=len(options) < len(list(_options(schema))), text=text)


def _options(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of which a value has one."""
    yield from schema.get("anyOf", (schema,))


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference: str = schema.get("$ref", "")
    return _SCHEMA["$defs"][reference.rpartition("/")[2]] if reference else schema
