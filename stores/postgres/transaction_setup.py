"""How a transaction begins: as the application's role, for one tenant.

These are settings of the transaction alone, so they hold behind a connection pooler too. The role owns nothing and
cannot bypass row-level security, whoever the connection belongs to. Times are returned in UTC, whatever the server's own
zone: in some of these the offsets of a hundred years ago have seconds, which JSON does not know.
"""

from psycopg import Error
from psycopg.errors import InsufficientPrivilege, InvalidParameterValue

from mnestic.memory.errors import ConfigurationError, InvalidInputError
from mnestic.stores.postgres.queries import Query, read_query
from mnestic.stores.postgres.schema import never_migrated
from mnestic.stores.postgres.sqlstates import Meaning, meaning_of, reason_of

_BEGIN: Query = ("BEGIN", ())
_BEGIN_CONSISTENT: Query = ("BEGIN ISOLATION LEVEL REPEATABLE READ", ())
ROLLBACK: Query = ("ROLLBACK", ())
COMMIT: Query = ("COMMIT", ())  # else the pool undoes it, and the driver forgets what is prepared
_SET_WRITER = read_query("transaction_setup.set_writer")
_SET_READER = read_query("transaction_setup.set_reader")
_SET_AUDIENCES = read_query("transaction_setup.set_audiences")


def begin_statements(
    tenant_id: str,
    *,
    write: bool,
    consistent: bool = False,
    agent_id: str = "",
    reader: str | None = None,
) -> tuple[Query, ...]:
    """What a transaction runs first; all statements of a consistent one see the database at one moment.

    With a reader it sees of the agent's memory what the reader may.
    """
    begin = _BEGIN_CONSISTENT if consistent else _BEGIN
    first = (_SET_WRITER if write else _SET_READER).bind({"tenant_id": tenant_id})
    if reader is None:
        return begin, first
    seen = {"tenant_id": tenant_id, "agent_id": agent_id, "reader": reader}
    return begin, first, _SET_AUDIENCES.bind(seen)


def setup_failure(error: Error) -> Exception | None:
    """Why a transaction could not begin, where that has another reason than for any other statement.

    The connection is of a role that may not run as the application, there is no such role yet, or the tenant's name
    is none.
    """
    if isinstance(error, InsufficientPrivilege):
        why = f"is of a role that may not run as mnestic_app ({reason_of(error)}); grant it mnestic_app"
        return ConfigurationError(setting="MNESTIC_DATABASE_URL", why=why)
    if isinstance(error, InvalidParameterValue):
        return never_migrated()
    if meaning_of(error) is Meaning.BAD_INPUT:
        return InvalidInputError(what="tenant", why=reason_of(error))
    return None
