"""What is set for an agent at run time, in Postgres."""

import json
from typing import Any

from mnestic.memory.knowledge.importance import IMPORTANCE_POLICY, ImportanceBasis, stored_policy
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_READ, _LOCK = read_query("agent_settings.read"), read_query("agent_settings.lock")
_PUT, _RESET = read_query("agent_settings.put"), read_query("agent_settings.reset")
_IMPORTANCE_BASIS = read_query("agent_settings.importance_basis")
_LIST_LANGUAGES = read_query("agent_settings.list_languages")
_LANGUAGE = read_query("agent_settings.language")


class PostgresSettingStore:
    """Implements `mnestic.memory.retrieval.ports.SettingStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def read(self) -> dict[str, Any]:
        """See the port."""
        return {row.name: row.value for row in await self._unit.fetch(_READ)}

    async def lock(self) -> None:
        """See the port."""
        lock = "\x1f".join(("settings", *self._unit.owner.values()))
        await self._unit.fetch(_LOCK, lock=lock)

    async def put(self, name: str, value: Any) -> None:
        """See the port."""
        document = json.dumps(value, ensure_ascii=False)  # of None too, which is set
        await self._unit.write(_PUT, name=name, value=document)
        self._unit.wrote("setting.put", name)

    async def reset(self, name: str) -> None:
        """See the port."""
        await self._unit.write(_RESET, name=name)
        self._unit.wrote("setting.reset", name)

    async def importance_basis(self) -> ImportanceBasis:
        """See the port."""
        (row,) = await self._unit.fetch(
            _IMPORTANCE_BASIS, every_agent=EVERY_AGENT, name=IMPORTANCE_POLICY
        )
        return ImportanceBasis(row.now, stored_policy(row.policy))

    async def list_languages(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(row.name for row in await self._unit.fetch(_LIST_LANGUAGES))


async def language_of(unit: UnitOfWork) -> str:
    """The language that an agent's new entries are in."""
    row = await unit.fetch_one(_LANGUAGE)
    return LANGUAGE if row is None else str(row.name)
