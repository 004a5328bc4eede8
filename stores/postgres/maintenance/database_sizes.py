"""How much all tenants have, and what the tables and indexes take that they share: for the owner of the tables alone."""

from mnestic.memory.maintenance.reports import DatabaseSizes, MemorySizes, TableSizes
from mnestic.memory.scope import EVERY_AGENT
from mnestic.stores.postgres.maintenance.backup_tables import prepare_texts
from mnestic.stores.postgres.maintenance.owner_sessions import Owner, owner_session
from mnestic.stores.postgres.queries import fetch_rows, read_query

_TABLES = read_query("measure_database.list_tables")
_TENANTS = read_query("measure_database.list_tenants")
_MEASURE = read_query("measure_memory")


def measure_database(admin_url: str) -> DatabaseSizes:
    """Measures the tables, and what each tenant has in them.

    Raises:
        DatabaseUnavailableError: Postgres does not answer.
        SchemaVersionError: the tables are not there.
        ConfigurationError: the role may not do it.
    """
    with owner_session(admin_url) as owner:
        owner.read_only = True
        tables = fetch_rows(owner, _TABLES)
        return DatabaseSizes(
            tables=tuple(TableSizes.model_validate(row._asdict()) for row in tables),
            tenants={
                row.tenant_id: _measure(owner, row.tenant_id) for row in fetch_rows(owner, _TENANTS)
            },
        )


def _measure(owner: Owner, tenant_id: str) -> MemorySizes:
    with owner.transaction():
        prepare_texts(owner, tenant_id=tenant_id)
        (row,) = fetch_rows(owner, _MEASURE, tenant_id=tenant_id, every_agent=EVERY_AGENT)
        return MemorySizes.model_validate(row._asdict())
