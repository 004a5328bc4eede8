"""Running the migrations, one a release, which only go forward, through Alembic."""

from importlib.resources import as_file, files

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from mnestic.stores.postgres.queries import read_query

_CREATE = read_query("schema.create")


def upgrade(connection: Connection, *, to: str = "head") -> None:
    """Brings the schema to a revision, by default the latest, inside the connection's transaction.

    Raises:
        CommandError: of Alembic; the database is at a revision that is not among the migrations.
    """
    connection.exec_driver_sql(_CREATE.text)
    with as_file(files("mnestic.stores.postgres") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.attributes["connection"] = connection
        command.upgrade(config, to)
