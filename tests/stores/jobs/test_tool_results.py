"""Large results of tools, in every implementation of `Memory`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    StoredValueError,
)
from mnestic.memory.jobs.tool_results import ToolResultRef
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
ID = "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469"


async def put(begin: Begin, result: Any) -> ToolResultRef:
    async with begin() as transaction:
        return await transaction.tool_results.put(ID, result, job_id="j1", node="look")


async def get(begin: Begin, ref: ToolResultRef) -> Any:
    async with begin(write=False) as transaction:
        return await transaction.tool_results.get(ref)


@pytest.mark.parametrize(
    "result",
    [
        {"b": [1, 2.50, 1e22, -0.0, 1e-9], "a": 'Malmö 🙂 \\ " \n'},
        [],
        "text",
        None,
        10**30,
        {"x": "y" * 3_000_000},
    ],
    ids=lambda result: str(result)[:20],
)
async def test_a_result_is_read_as_it_was_put(begin: Begin, result: Any) -> None:
    ref = await put(begin, result)

    found = await get(begin, ref)

    assert canonical_json(found) == canonical_json(result)
    assert ref == ToolResultRef(
        ref=ID,
        sha256=sha256_hex(canonical_json(result)),
        size_bytes=len(canonical_json(result)),
    )


async def test_a_result_is_kept_once(begin: Begin) -> None:
    ref = await put(begin, {"n": 1})

    with pytest.raises(AlreadyExistsError, match=ID):
        await put(begin, {"n": 2})

    assert await get(begin, ref) == {"n": 1}


async def test_what_cannot_be_stored_is_refused_with_its_place(begin: Begin) -> None:
    with pytest.raises(InvalidInputError, match=r"result\.x: holds a NUL"):
        await put(begin, {"x": "\x00"})


async def test_another_agent_and_another_tenant_see_nothing(begin: Begin) -> None:
    ref = await put(begin, {"n": 1})

    for stranger in (begin(agent="eve", write=False), begin(tenant="other", write=False)):
        async with stranger as transaction:
            with pytest.raises(NotFoundError, match=ID):
                await transaction.tool_results.get(ref)


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


async def test_both_sides_are_audited(
    begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    ref = await put(begin, {"n": 1})
    await get(begin, ref)

    assert trail() == [("tool_result.put", ID), ("tool_result.get", ID)]
