"""Running the migrations, one a release, which only go forward, through Alembic."""

import re
from importlib.resources import as_file, files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from mnestic.memory.errors import SchemaVersionError
from mnestic.stores.postgres.queries import read_query

_BEFORE_SQUASH = "94ce7fb4"  # the last that has a migration for each change between releases
_CREATE = read_query("schema.create")


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
            remedy = (
                f"it is of no release: migrate it with commit {_BEFORE_SQUASH} of Mnestic first"
            )
            (found,) = re.findall(r"'(\w+)'$", str(error)) or (to,)
            raise SchemaVersionError(found=found, wanted=wanted, remedy=remedy) from error
