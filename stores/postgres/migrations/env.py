"""Alembic's entry: runs the migrations on the connection that `mnestic.stores.postgres.schema` made."""

from alembic import context

from mnestic.stores.postgres.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    version_table_schema="mnestic",
    include_schemas=True,
)
with context.begin_transaction():
    context.run_migrations()
