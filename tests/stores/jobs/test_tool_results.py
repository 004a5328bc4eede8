"""Large results of tools, in every implementation of `Memory`."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import AlreadyExistsError, StoredValueError
from mnestic.memory.jobs.tool_results import ToolResultRef
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin

ID = "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469"


async def put(begin: Begin, result: Any, *, place: int = 9) -> ToolResultRef:
    async with begin() as transaction:
        name = f"{ID[:-1]}{place}"
        return await transaction.tool_results.put(name, result, job_id="j1", node="look")


async def get(begin: Begin, ref: ToolResultRef) -> Any:
    async with begin(write=False) as transaction:
        return await transaction.tool_results.get(ref)


RESULTS = (
    {"b": [1, 2.50, 1e22, -0.0, 1e-9], "a": 'Malmö 🙂 \\ " \n'},
    [],
    "text",
    None,
    10**30,
    {"x": "y" * 3_000_000},
)


async def test_a_result_is_read_as_it_was_put(begin: Begin) -> None:
    for place, result in enumerate(RESULTS):
        ref = await put(begin, result, place=place)
        body = canonical_json(result)

        assert canonical_json(await get(begin, ref)) == body
        assert (ref.sha256, ref.size_bytes) == (sha256_hex(body), len(body))


async def test_a_result_is_kept_once_and_audited(
    begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    ref = await put(begin, {"n": 1})

    with pytest.raises(AlreadyExistsError, match=ID):
        await put(begin, {"n": 2})

    assert await get(begin, ref) == {"n": 1}
    assert trail() == [("tool_result.put", ID), ("tool_result.get", ID)]


@pytest.mark.parametrize("body", [b'{"n":2}', b'{"n": 1}'])
async def test_a_result_that_somebody_changed_is_found_out(
    begin: Begin, owner: psycopg.Connection[TupleRow], settings: Settings, body: bytes
) -> None:
    ref = await put(begin, {"n": 1})
    owner.execute(
        "UPDATE mnestic.tool_result SET body = %s WHERE tenant_id = %s",
        [body, settings.tenant_id],
    )

    with pytest.raises(StoredValueError, match=ID):
        await get(begin, ref)
