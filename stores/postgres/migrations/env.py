"""Alembic's entry: runs the migrations on the connection that `mnestic.stores.postgres.schema` made."""

from alembic import context

from mnestic.stores.postgres.tables import Table

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Table.metadata,
    version_table_schema="mnestic",
    include_schemas=True,
)
with context.begin_transaction():
    context.run_migrations()
