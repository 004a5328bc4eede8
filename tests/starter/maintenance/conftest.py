"""What tests of backups need: a database of their own, a folder, and memories of two tenants."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.stores.postgres.maintenance.backup_tables import copy_out, list_copied_tables
from mnestic.stores.postgres.maintenance.owner_sessions import owner_session
from mnestic.stores.postgres.memory import PostgresMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Names and texts that end a row or a column, or are NULL, where they are not escaped.
AWKWARD = (
    'Mara O\'Brien "Mo" says: C:\\new\\table\tand\nNULL \\N',
    "Zoë, Łukasz & 明\r\nlive in 'São Paulo'; \\.",
    "",
)


class Place:
    """A database and a folder of backups."""

    def __init__(self, url: str, folder: Path, memory: PostgresMemory) -> None:
        self.url, self.folder, self.memory = url, folder, memory
        self._others: list[Place] = []

    def backups(self, tenant: str = "ours") -> BackupClient:
        """The backups of a tenant."""
        return BackupClient(self.url, self.folder, tenant_id=tenant)

    def memory_of(self, tenant: str = "ours", *, agent: str = "ada") -> MemoryClient:
        """The memory of an agent of a tenant."""
        return MemoryClient(client_caller(self.memory, tenant_id=tenant, agent_id=agent))

    async def fill(self, tenant: str = "ours") -> None:
        """Gives a tenant entries, facts, records and settings, with awkward names."""
        ada = self.memory_of(tenant)
        for text in AWKWARD[:2]:
            await ada.add(f"{text} {tenant}", speaker="Mara O'Brien", tags=["a'b"], at=NOON)
        await ada.facts.add("Mara O'Brien", "lives_in", "L'Aquila \\N")
        await ada.records.set("notes", "empty", {"text": AWKWARD[2], "none": None})
        await ada.settings.change(auto_retrieve_max_results=7)
        await self.memory_of(tenant, agent="bea").add("The ferry leaves at nine.", at=NOON)

    def rows(self, tenant: str | None = "ours") -> dict[str, bytes]:
        """The rows of each table as a backup has them, of a tenant or all."""
        return rows_of(self.url, tenant)

    def empty(self, tenant: str) -> None:
        """Removes all rows of a tenant."""
        with owner_session(self.url) as owner:
            for table in list_copied_tables(owner):
                delete = sql.SQL("DELETE FROM {} WHERE tenant_id = {}")
                owner.execute(delete.format(table.identifier, tenant))

    def at(self, url: str) -> "Place":
        """The same folder beside another database."""
        self._others.append(Place(url, self.folder, _memory(url)))
        return self._others[-1]

    async def close(self) -> None:
        """Closes the connections."""
        await self.memory.close()
        for other in self._others:
            await other.close()

    def run(self, statement: str, *names: str) -> None:
        """Runs a statement as the owner."""
        with psycopg.connect(self.url, autocommit=True) as owner:
            owner.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture
async def place(module_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    """An empty database and an empty folder."""
    with owner_session(module_url) as owner:
        for table in list_copied_tables(owner):
            owner.execute(sql.SQL("TRUNCATE {}").format(table.identifier))
    place = Place(module_url, tmp_path / "backups", _memory(module_url))
    yield place
    await place.close()


def rows_of(url: str, tenant: str | None) -> dict[str, bytes]:
    """The rows of each table of a database as a backup has them, of a tenant or all."""
    with owner_session(url) as owner:
        found = {}
        for table in list_copied_tables(owner):
            with owner.cursor().copy(copy_out(table, tenant_id=tenant)) as copy:
                found[table.name] = b"".join(map(bytes, copy))
        return found


def _memory(url: str) -> PostgresMemory:
    return PostgresMemory(
        url.replace("postgres@", "mnestic_app@"), pool_size=2, embedder=TokenVectorEmbedder()
    )


def databases(url: str) -> list[str]:
    """The scratch databases."""
    with psycopg.connect(url) as owner:
        rows = owner.execute(
            "SELECT datname FROM pg_database WHERE datname = current_database() || '_mnestic_scratch'"
        ).fetchall()
    return [name for (name,) in rows]
