"""How a transaction begins: as the application's role, for one tenant.

Both are settings of the transaction alone, so they hold behind a connection pooler too. The role owns nothing and
cannot bypass row-level security, whoever the connection belongs to.
"""

from psycopg.errors import InvalidParameterValue
from sqlalchemy import text
from sqlalchemy.exc import DataError, DBAPIError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection

from mnestic.memory.errors import ConfigurationError, InvalidInputError
from mnestic.stores.postgres.connections import Asked, OpeningError, read_together
from mnestic.stores.postgres.schema import never_migrated, reason_of

_OPEN = """
SELECT set_config('role', 'mnestic_app', true) AS role, set_config('mnestic.tenant_id', :tenant_id, true) AS tenant"""
_OPEN_WRITING = text(_OPEN)
# What a reading transaction leaves behind, who read what, is on disk within a second; nobody waits for that.
_OPEN_READING = text(f"{_OPEN}, set_config('synchronous_commit', 'off', true) AS waits")


def opening(tenant_id: str, *, write: bool) -> Asked:
    """What a transaction asks first."""
    return _OPEN_WRITING if write else _OPEN_READING, {"tenant_id": tenant_id}


async def open_for(connection: AsyncConnection, tenant_id: str) -> None:
    """Begins a transaction of a tenant, or of none by an empty name.

    Raises:
        ConfigurationError: the connection is of a role that may not run as the application.
        SchemaVersionError: there is no such role yet.
        InvalidInputError: the tenant's name is none.
    """
    try:
        await read_together(connection, (), opening=opening(tenant_id, write=True))
    except OpeningError as error:
        raise not_opened(error) from error


def not_opened(error: OpeningError) -> Exception:
    """Why a transaction could not begin; see `open_for`."""
    why: DBAPIError = error.refusal
    if isinstance(why, ProgrammingError):
        said = (
            f"is of a role that may not run as mnestic_app ({reason_of(why)}); grant it mnestic_app"
        )
        return ConfigurationError(setting="MNESTIC_DATABASE_URL", why=said)
    assert isinstance(why, DataError)
    if isinstance(why.orig, InvalidParameterValue):
        return never_migrated()
    return InvalidInputError(what="tenant", why=reason_of(why))
