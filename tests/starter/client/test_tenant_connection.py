"""What a connection is opened with."""

from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

NONE = ["", "bad tenant/!", "a\0", "x" * 129]


@pytest.mark.parametrize("tenant", NONE)
async def test_a_tenant_that_is_no_id_is_refused_before_anything_is_connected(
    tmp_path: Path, tenant: str
) -> None:
    nowhere = Settings(data_dir=tmp_path, tenant_id=tenant)

    for connection in (MnesticClient, MemoryConnection):
        with pytest.raises(InvalidInputError, match=r"^tenant: .* is not an id"):
            await connection.connect(nowhere)


async def test_a_client_of_what_is_connected_checks_its_tenant_too(
    client: MnesticClient, memory: PostgresMemory
) -> None:
    settings = client.settings.model_copy(update={"tenant_id": "bad tenant/!"})

    with pytest.raises(InvalidInputError, match="tenant: 'bad tenant/!' is not an id"):
        MnesticClient(client.temporal, memory, settings=settings, endpoints=client.endpoints)
