"""The names of all tables: a store loads the module of its own when it is first used, here all count."""

import importlib
import pkgutil

from mnestic.stores import postgres
from mnestic.stores.postgres.tables import Table


def declared_tables() -> frozenset[str]:
    """The tables of all stores, by name."""
    for module in pkgutil.walk_packages(postgres.__path__, f"{postgres.__name__}."):
        if module.name.endswith("tables"):
            importlib.import_module(module.name)
    return frozenset(table.name for table in Table.metadata.tables.values())
