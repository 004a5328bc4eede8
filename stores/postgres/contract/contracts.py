"""The versions of contracts in Postgres."""

from typing import Any

from mnestic.memory.contract.versions import ContractVersion
from mnestic.stores.postgres.cursors import check_limit, decode_number_cursor, encode_cursor
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LOCK, _FIND = read_query("contracts.lock"), read_query("contracts.find")
_LIST_CURRENT, _LIST_VERSIONS = (
    read_query("contracts.list_current"),
    read_query("contracts.list_versions"),
)
_FIND_FOR, _ADD = read_query("contracts.find_for"), read_query("contracts.add")


class PostgresContractStore:
    """Implements `mnestic.memory.contract.ports.ContractStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def lock(self, selector: str) -> None:
        """See the port."""
        await self._unit.fetch(_LOCK, lock=f"contract/{self._unit.tenant_id}/{selector}")

    async def find(self, selector: str, *, version: int | None = None) -> ContractVersion | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND, selector=selector, version=version)
        self._unit.read("contract.get", selector)
        return None if row is None else _version(row)

    async def find_for(self, agent_id: str) -> ContractVersion | None:
        """See the port."""
        row = await self._unit.fetch_one(_FIND_FOR, of_agent=agent_id)
        self._unit.read("contract.get", agent_id)
        return None if row is None else _version(row)

    async def list_current(self) -> tuple[ContractVersion, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST_CURRENT)
        self._unit.read("contract.list", "*")
        return tuple(map(_version, rows))

    async def list_versions(
        self, selector: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ContractVersion, ...], str | None]:
        """See the port."""
        before = decode_number_cursor(cursor) if cursor is not None else None
        rows = await self._unit.fetch(
            _LIST_VERSIONS, selector=selector, before=before, limit=check_limit(limit) + 1
        )
        self._unit.read("contract.list", selector)
        versions = tuple(map(_version, rows[:limit]))
        return versions, encode_cursor(str(versions[-1].version)) if len(rows) > limit else None

    async def add(
        self, selector: str, document: dict[str, Any] | None, *, sha256: str, applied_by: str
    ) -> ContractVersion:
        """See the port."""
        (row,) = await self._unit.fetch(
            _ADD,
            selector=selector,
            document=as_json(document),
            sha256=sha256,
            applied_by=applied_by,
        )
        self._unit.wrote("contract.apply", f"{selector} {row.version}")
        return _version(row)


def _version(row: Any) -> ContractVersion:
    return ContractVersion.model_validate(row, from_attributes=True)
