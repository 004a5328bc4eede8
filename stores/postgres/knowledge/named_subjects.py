"""The subjects of facts by their names, in Postgres."""

from collections.abc import Collection

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.subjects import NamedSubject
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LIST, _LIST_ALIASES = read_query("named_subjects.list"), read_query("named_subjects.list_aliases")


async def list_named(unit: UnitOfWork, name: str) -> tuple[NamedSubject, ...]:
    """See `mnestic.memory.knowledge.ports.FactStore.list_named`."""
    rows = await unit.fetch(_LIST, key=name_key(name))
    return tuple(
        NamedSubject(by=row.by, key=row.key or name_key(row.subject), subject=row.subject)
        for row in rows
    )


async def list_aliases(unit: UnitOfWork, keys: Collection[str]) -> tuple[str, ...]:
    """See `mnestic.memory.knowledge.ports.FactStore.list_aliases`."""
    rows = await unit.fetch(_LIST_ALIASES, keys=sorted(keys))
    return tuple(row.object_key for row in rows)
