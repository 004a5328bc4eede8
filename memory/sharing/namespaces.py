"""Namespaces of shared memory: the records that they have, and who may read, write and administer them."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import AccessDeniedError, InvalidInputError
from mnestic.memory.names import SHARED
from mnestic.memory.selectors import matches

AccessLevel = Literal["read", "write", "admin"]
LEVELS: tuple[AccessLevel, ...] = ("read", "write", "admin")
"""Each includes the former."""


class SharedRecord(DeferredModel):
    """A record that agents share. Its owner is the agent that wrote it last."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: str
    key: str
    value: Any
    version: int
    owner: str
    metadata: dict[str, Any] | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    expires_at: AwareDatetime | None = None


class NamespaceGrant(DeferredModel):
    """What the agents of a selector may do in a namespace, and which contract or agent says so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: str
    selector: str
    level: AccessLevel
    granted_by: str


def level_of(grants: Iterable[NamespaceGrant], agent_id: str) -> AccessLevel | None:
    """What an agent may do by the grants of a namespace: the highest level of those that match it."""
    levels = [one.level for one in grants if matches(one.selector, agent_id)]
    return max(levels, key=LEVELS.index, default=None)


def check_access(
    grants: Iterable[NamespaceGrant], namespace: str, *, agent_id: str, needs: AccessLevel
) -> None:
    """Refuses what an agent may not do by the grants of a namespace.

    Raises:
        AccessDeniedError: names the level that it needs, and the one that it has.
    """
    level = level_of(grants, agent_id)
    if level is None or LEVELS.index(level) < LEVELS.index(needs):
        what = f"namespace {namespace}, which takes {needs}"
        raise AccessDeniedError(agent_id=agent_id, what=what, allowed=level or "none")


def check_is_own(namespace: str) -> None:
    """Refuses the namespace of shared records where an agent's own ones are read or written.

    Raises:
        InvalidInputError: says what reads and writes shared records.
    """
    if namespace.startswith(SHARED):
        why = f"{namespace[:140]!r} is of shared memory; use get_shared, set_shared and list_shared"
        raise InvalidInputError(what="namespace", why=why)
