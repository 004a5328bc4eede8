"""Schemas of records: what the values of a namespace must look like, how they are indexed, and how long they live.

Records are checked by them wherever they are written.
"""

import json
from datetime import timedelta
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict

from mnestic.memory.canonical import canonical_json
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import PayloadChecker
from mnestic.memory.jobs.long_term.records import LongTermRecord


class SchemaRules(DeferredModel):
    """The rules of one namespace, out of a version of a contract."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    selector: str
    version: int
    schema_id: str
    structure: dict[str, Any]
    indexes: tuple[str, ...] = ()
    ttl_days: int = 0
    keeps_versions: bool = False

    @property
    def ttl(self) -> timedelta | None:
        """How long a record lives, or None for ever."""
        return timedelta(days=self.ttl_days) if self.ttl_days else None


class Misfit(DeferredModel):
    """A record that does not fit the structure of its schema, since it was written before; it is readable, and why it does not fit."""

    model_config = ConfigDict(frozen=True)

    key: str
    version: int
    why: str


def misfit_of(rules: SchemaRules, record: LongTermRecord) -> Misfit | None:
    """Why a record does not fit its schema, or None if it does."""
    try:
        check_value(rules, record.value)
    except InvalidInputError as error:
        return Misfit(key=record.key, version=record.version, why=str(error))
    return None


def check_value(rules: SchemaRules, value: Any) -> None:
    """Refuses a value that does not fit the structure of its schema; formats such as `date-time` count.

    Raises:
        InvalidInputError: names path, value and what is allowed, of the first problems.
    """
    check_structure(rules.structure, value, what="value")


def check_structure(structure: dict[str, Any], value: Any, *, what: str) -> None:
    """Refuses a value that does not fit a structure, as `check_value`; `what` names it in the error.

    Raises:
        InvalidInputError: as `check_value`.
    """
    _checker(canonical_json(structure), what).check(value)


@lru_cache(maxsize=64)
def _checker(structure: bytes, what: str) -> PayloadChecker:
    return PayloadChecker(json.loads(structure), what=what, checks_formats=True)
