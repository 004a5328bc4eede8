"""What is set for an agent at run time, in Postgres."""

from typing import Any

from sqlalchemy import delete, func, text
from sqlalchemy.dialects.postgresql import insert

from mnestic.memory.knowledge.importance import IMPORTANCE_POLICY, ImportanceBasis, stored_policy
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.retrieval.tables import SettingRow
from mnestic.stores.postgres.tables import table
from mnestic.stores.postgres.unit_of_work import UnitOfWork

SETTING = table(SettingRow)
_SETTINGS = text(
    "SELECT name, value FROM mnestic.setting WHERE tenant_id = :tenant_id AND agent_id = :agent_id"
)
_BASIS = text("""
SELECT now() AS now, (SELECT value FROM mnestic.setting
                       WHERE tenant_id = :tenant_id AND agent_id = :every_agent AND name = :name) AS policy
""")
_LANGUAGES = text(
    "SELECT cfgname AS name FROM pg_ts_config WHERE pg_ts_config_is_visible(oid) ORDER BY cfgname"
)
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_LANGUAGE = text("""
SELECT value #>> '{}' AS name FROM mnestic.setting
 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND name = 'language'
""")


class PostgresSettingStore:
    """Implements `mnestic.memory.ports.SettingStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def read(self) -> dict[str, Any]:
        """See the port."""
        rows = await self._unit.rows(_SETTINGS, self._unit.owner)
        return {row.name: row.value for row in rows}

    async def lock(self) -> None:
        """See the port."""
        name = "\x1f".join(("settings", *self._unit.owner.values()))
        await self._unit.rows(_LOCK, {"name": name})

    async def put(self, name: str, value: Any) -> None:
        """See the port."""
        added = insert(SETTING).values(
            **self._unit.owner, name=name, value=value, updated_at=func.now()
        )
        await self._unit.run(
            added.on_conflict_do_update(
                index_elements=["tenant_id", "agent_id", "name"],
                set_={"value": added.excluded.value, "updated_at": func.now()},
            )
        )
        self._unit.wrote("setting.put", name)

    async def reset(self, name: str) -> None:
        """See the port."""
        await self._unit.run(
            delete(SETTING).where(self._unit.owned(SETTING), SETTING.c.name == name)
        )
        self._unit.wrote("setting.reset", name)

    async def importance_basis(self) -> ImportanceBasis:
        """See the port."""
        tenant = {"tenant_id": self._unit.tenant_id, "every_agent": EVERY_AGENT}
        (row,) = await self._unit.rows(_BASIS, {**tenant, "name": IMPORTANCE_POLICY})
        return ImportanceBasis(row.now, stored_policy(row.policy))

    async def list_languages(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(row.name for row in await self._unit.rows(_LANGUAGES))


async def language_of(unit: UnitOfWork) -> str:
    """The language that an agent's new entries are in."""
    row = await unit.row(_LANGUAGE, unit.owner)
    return LANGUAGE if row is None else str(row.name)
