"""Predicates of a tenant from Python."""

from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.mnestic_client import MnesticClient


@pytest.mark.parametrize("said", [{"cardinality": "multiple"}, {"category": "hobbies"}])
async def test_what_no_predicate_can_have_is_refused_and_nothing_is_changed(
    client: MnesticClient, said: dict[str, Any]
) -> None:
    before = await client.predicates().list()

    with pytest.raises(InvalidInputError, match=f"{next(iter(said))}: there is no"):
        await client.predicates().set("lives_in", **said)

    assert await client.predicates().list() == before
