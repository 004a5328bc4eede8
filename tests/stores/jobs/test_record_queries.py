"""Queries of records: each operator, the order, pages, and the rules of a contract."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.long_term.filters import read_filter
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory

ROWS: dict[str, Any] = {
    "a": {"site": "one", "score": 3, "tags": ["fast", "new"], "page": {"title": "Broken links"}},
    "b": {"site": "two", "score": 7.5, "tags": [], "page": {"title": "Slow images"}},
    "c": {"site": "two", "score": 10, "seen": None, "page": {"title": "Links, slow and broken"}},
    "d": {"site": "three", "score": "unknown"},
    "e": ["a list"],
}


@pytest.fixture
async def rows(memory: PostgresMemory, settings: Settings) -> AsyncIterator[Transaction]:
    """A transaction of an agent with these records."""
    async with memory.transaction(
        tenant_id=settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        for key, value in ROWS.items():
            await transaction.records.set("audit", key, value, metadata={"from": f"file {key}"})
        await transaction.records.set("other", "f", {"site": "one"})
        yield transaction


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        (None, "abcde"),
        ({"field": "site", "value": "two"}, "bc"),
        ({"field": "site", "op": "ne", "value": "two"}, "ade"),
        ({"field": "score", "op": "gt", "value": 3}, "bc"),
        ({"field": "score", "op": "lte", "value": 7.5}, "ab"),
        ({"field": "score", "op": "gte", "value": "a"}, "d"),
        ({"field": "site", "op": "in", "value": ["one", "three"]}, "ad"),
        ({"field": "tags", "op": "contains", "value": "new"}, "a"),
        ({"field": "page.title", "op": "contains", "value": "LINKS"}, "ac"),
        ({"field": "page", "op": "contains", "value": {"title": "Slow images"}}, "b"),
        ({"field": "page.title", "op": "text", "value": "broken links -images"}, "ac"),
        ({"field": "", "op": "text", "value": '"slow images"'}, "b"),
        ({"field": "seen", "op": "exists"}, "c"),
        ({"field": "seen", "op": "exists", "value": False}, "abde"),
        ({"field": "seen", "value": None}, "abcde"),
        ({"field": "$key", "op": "gte", "value": "d"}, "de"),
        ({"field": "$metadata.from", "value": "file b"}, "b"),
        ({"or": [{"field": "site", "value": "one"}, {"field": "score", "value": 10}]}, "ac"),
        (
            {"and": [{"field": "site", "value": "two"}, {"not": {"field": "score", "value": 10}}]},
            "b",
        ),
        ({"field": "site", "value": "'; DROP TABLE mnestic.entry; --"}, ""),
        ({"field": "%(word)s"}, ""),
        ({"field": "100 %s -- if word", "op": "exists", "value": False}, "abcde"),
        ({"field": "a\n-- if word\n'$1", "op": "exists", "value": False}, "abcde"),
    ],
)
async def test_a_condition_finds_the_records_that_fulfil_it(
    rows: Transaction, where: dict[str, Any] | None, keys: str
) -> None:
    found, cursor = await rows.records.query("audit", read_filter({"where": where}))

    assert "".join(record.key for record in found) == keys
    assert cursor is None


async def test_a_namespace_is_never_read_as_a_parameter(rows: Transaction) -> None:
    await rows.records.set("%(word)s -- if word", "g", 1)

    found, _ = await rows.records.query("%(word)s -- if word", read_filter(None))

    assert [record.key for record in found] == ["g"]


@pytest.mark.parametrize("descending", [False, True])
async def test_pages_follow_each_other_in_the_order(rows: Transaction, descending: bool) -> None:
    everything = {"order_by": ["score", "site"], "descending": descending}
    listed, cursor = "", None
    while True:
        page = read_filter({**everything, "limit": 2, "cursor": cursor})
        found, cursor = await rows.records.query("audit", page)
        listed += "".join(record.key for record in found)
        if cursor is None:
            break

    assert listed == ("edabc" if not descending else "cbade")


async def test_a_cursor_of_another_order_is_refused(rows: Transaction) -> None:
    _, cursor = await rows.records.query("audit", read_filter({"limit": 1}))

    with pytest.raises(InvalidInputError, match="cursor"):
        await rows.records.query(
            "audit", read_filter({"order_by": ["score"], "limit": 1, "cursor": cursor})
        )
