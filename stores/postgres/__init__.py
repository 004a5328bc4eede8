"""The Postgres stores: tables, migrations, one module a store."""
