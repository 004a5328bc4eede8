"""Running the migrations, which only go forward, through Alembic."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from mnestic.memory.errors import SchemaVersionError
from mnestic.stores.postgres.addresses import libpq_url
from mnestic.stores.postgres.queries import read_query

# The commits that migrate a database of a state between releases, one after the other: to 0039, and from there to 0040.
_TO_0039, _FROM_0039 = "94ce7fb4", "5d321d58"
_CREATE = read_query("schema.create")


@contextmanager
def migrating(admin_url: str) -> Iterator[Connection]:
    """A connection of the owner of the tables in a transaction, as Alembic wants it.

    Raises:
        ConfigurationError: the address is malformed.
        psycopg.Error: of the connection, or of a statement.
    """
    address = libpq_url(admin_url)
    engine = create_engine(
        "postgresql+psycopg://",
        # A pooler may be between.
        creator=lambda: psycopg.connect(address, connect_timeout=10, prepare_threshold=None),
        poolclass=NullPool,
        hide_parameters=True,
    )
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise error.orig or error from error
    finally:
        engine.dispose()


def upgrade(connection: Connection, *, to: str = "head") -> None:
    """Brings the schema to a revision, by default the latest, inside the connection's transaction.

    Raises:
        SchemaVersionError: the revision, or that of the database, is of a state between two releases.
    """
    connection.exec_driver_sql(_CREATE.text)
    with as_file(files("mnestic.stores.postgres") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, to)
        except CommandError as error:  # "Can't locate revision identified by '0030'"
            wanted = ScriptDirectory.from_config(config).get_current_head() or to
            (found,) = re.findall(r"'(\w+)'$", str(error)) or (to,)
            commits = _FROM_0039 if found == "0039" else f"{_TO_0039}, then {_FROM_0039}"
            remedy = f"it is of no release: migrate it with commit {commits} of Mnestic first"
            raise SchemaVersionError(found=found, wanted=wanted, remedy=remedy) from error
