"""Long-term records, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleVersionError
from mnestic.memory.jobs.records import ReadRecord
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
HOUR = timedelta(hours=1)


@pytest.fixture
def expire(owner: psycopg.Connection[TupleRow], settings: Settings) -> Callable[[], None]:
    """Moves the end of every record of this tenant that has one into the past."""

    def expire() -> None:
        owner.execute(
            "UPDATE mnestic.long_term_record SET expires_at = now() - interval '1 second'"
            " WHERE tenant_id = %s AND expires_at IS NOT NULL",
            [settings.tenant_id],
        )

    return expire


@pytest.mark.parametrize(
    "value",
    ["text", "", 0, -1.5, False, [], {}, {"a": [1, {"b": None}]}, "東京 🙂 \u2028", 2**200, [None]],
)
async def test_a_value_comes_back_as_it_was_written(begin: Begin, value: Any) -> None:
    async with begin() as transaction:
        written = await transaction.records.set("profile", "name", value)

    async with begin(write=False) as transaction:
        found = await transaction.records.get("profile", "name")
    assert found == written
    assert (found.value, type(found.value), found.version) == (value, type(value), 1)


async def test_each_write_is_a_version_and_keeps_when_it_was_made(begin: Begin) -> None:
    async with begin() as transaction:
        first = await transaction.records.set("profile", "name", "Mara")
    async with begin() as transaction:
        second = await transaction.records.set("profile", "name", "Maria")

    assert (first.version, second.version) == (1, 2)
    assert second.created_at == first.created_at < second.updated_at


async def test_a_record_that_is_not_there_is_named(begin: Begin) -> None:
    with pytest.raises(NotFoundError, match="profile/name"):
        async with begin(write=False) as transaction:
            await transaction.records.get("profile", "name")


async def test_a_deleted_record_is_gone_and_its_version_goes_on(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        deleted = await transaction.records.delete("profile", "name")
    async with begin(write=False) as transaction:
        between = await transaction.records.find("profile", "name")
        live, versions = await transaction.records.select([("profile", "name")])
    async with begin() as transaction:
        again = await transaction.records.set("profile", "name", "Maria")

    assert (deleted.version, between, live) == (2, None, {})
    assert versions == {("profile", "name"): 2}
    assert (again.version, again.created_at) == (3, again.updated_at)


async def test_what_is_not_there_cannot_be_deleted(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        await transaction.records.delete("profile", "name")

    for key in ("name", "never"):
        with pytest.raises(NotFoundError, match=key):
            async with begin() as transaction:
                await transaction.records.delete("profile", key)


async def test_a_write_based_on_the_stored_version_is_taken(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara", expected_version=0)
        second = await transaction.records.set("profile", "name", "Maria", expected_version=1)
        deleted = await transaction.records.delete("profile", "name", expected_version=2)
        again = await transaction.records.set("profile", "name", "Marie", expected_version=0)

    assert (second.version, deleted.version, again.version) == (2, 3, 4)


@pytest.mark.parametrize("expected", [0, 1, 3])
async def test_a_write_based_on_another_version_is_refused_with_what_is_stored(
    begin: Begin, expected: int
) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        stored = await transaction.records.set("profile", "name", "Maria")

    with pytest.raises(StaleVersionError, match="profile/name") as caught:
        async with begin() as transaction:
            await transaction.records.set("profile", "name", "x", expected_version=expected)
    with pytest.raises(StaleVersionError):
        async with begin() as transaction:
            await transaction.records.delete("profile", "name", expected_version=expected)

    assert (caught.value.expected, caught.value.stored_version) == (expected, 2)
    assert caught.value.stored == stored


async def test_an_expected_version_of_a_record_that_never_was_is_refused(begin: Begin) -> None:
    with pytest.raises(StaleVersionError) as caught:
        async with begin() as transaction:
            await transaction.records.set("profile", "name", "x", expected_version=4)

    assert (caught.value.stored_version, caught.value.stored) == (0, None)
    async with begin(write=False) as transaction:
        assert await transaction.records.find("profile", "name") is None


async def test_of_writers_who_each_expect_to_be_first_one_wins(begin: Begin) -> None:
    async def write(value: int) -> int:
        async with begin() as transaction:
            await transaction.records.set("profile", "name", value, expected_version=0)
        return value

    outcomes = await asyncio.gather(*(write(i) for i in range(8)), return_exceptions=True)

    won = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert [type(outcome) for outcome in outcomes].count(StaleVersionError) == 7
    async with begin(write=False) as transaction:
        assert (await transaction.records.get("profile", "name")).value == won[0]


async def test_writers_without_an_expectation_all_count(begin: Begin) -> None:
    async def write(value: int) -> int:
        async with begin() as transaction:
            return (await transaction.records.set("profile", "name", value)).version

    versions = await asyncio.gather(*(write(i) for i in range(8)))

    assert sorted(versions) == list(range(1, 9))


async def test_a_record_lives_as_long_as_its_ttl(begin: Begin, expire: Callable[[], None]) -> None:
    async with begin() as transaction:
        written = await transaction.records.set("cache", "a", 1, ttl=HOUR)
        await transaction.records.set("cache", "b", 2)
    assert written.expires_at == written.updated_at + HOUR
    async with begin(write=False) as transaction:
        before, _ = await transaction.records.list_by_namespace("cache")

    expire()

    async with begin(write=False) as transaction:
        after, _ = await transaction.records.list_by_namespace("cache")
        live, versions = await transaction.records.select([("cache", "a")])
        assert await transaction.records.find("cache", "a") is None
    assert [record.key for record in before] == ["a", "b"]
    assert [record.key for record in after] == ["b"]
    assert (live, versions) == ({}, {("cache", "a"): 1})


async def test_an_expired_record_is_written_anew_and_counts_on(
    begin: Begin, expire: Callable[[], None]
) -> None:
    async with begin() as transaction:
        first = await transaction.records.set("cache", "a", 1, ttl=HOUR)
    expire()

    with pytest.raises(NotFoundError):
        async with begin() as transaction:
            await transaction.records.delete("cache", "a")
    async with begin() as transaction:
        again = await transaction.records.set("cache", "a", 2, expected_version=0)

    assert (again.version, again.expires_at) == (2, None)
    assert again.created_at > first.created_at


@pytest.mark.parametrize("ttl", [timedelta(0), -HOUR, timedelta.max])
async def test_a_ttl_that_is_no_time_to_live_is_refused(begin: Begin, ttl: timedelta) -> None:
    with pytest.raises(InvalidInputError):
        async with begin() as transaction:
            await transaction.records.set("cache", "a", 1, ttl=ttl)


@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        ("", "name", 1),
        ("n", "", 1),
        ("n" * 257, "k", 1),
        ("n", "k" * 257, 1),
        ("n\0", "k", 1),
        ("n", "k\ud800", 1),
        ("n", "k", None),
        ("n", "k", float("nan")),
        ("n", "k", ["fine", "not\0fine"]),
        ("n", "k", {"not\0fine": 1}),
        ("n", "k", b"bytes"),
        ("n", "k", {"made": timedelta(1)}),
        pytest.param("n", "k", 10**5000, id="an integer of 5001 digits"),
    ],
)
async def test_what_cannot_be_stored_is_refused_and_nothing_is_kept(
    begin: Begin, namespace: str, key: str, value: Any
) -> None:
    async def write() -> None:
        async with begin() as transaction:
            await transaction.records.set("n", "before", 1)
            await transaction.records.set(namespace, key, value)

    with pytest.raises(InvalidInputError):
        await write()

    async with begin(write=False) as transaction:
        assert await transaction.records.list_by_namespace(None) == ((), None)


async def test_the_longest_names_are_taken_in_any_script(begin: Begin) -> None:
    namespace, key = "名" * 256, "🙂" * 256

    async with begin() as transaction:
        await transaction.records.set(namespace, key, 1)

    async with begin(write=False) as transaction:
        assert (await transaction.records.get(namespace, key)).value == 1


async def test_pages_hold_every_live_record_once_and_in_order(begin: Begin) -> None:
    names = [("a", "2"), ("a", "1"), ("b", "1"), ("a", "ä"), ("A", "z"), ("b", "0")]
    async with begin() as transaction:
        for namespace, key in names:
            await transaction.records.set(namespace, key, 1)
        await transaction.records.set("a", "gone", 1)
        await transaction.records.delete("a", "gone")

    pages, cursor = [], None
    while True:
        async with begin(write=False) as transaction:
            page, cursor = await transaction.records.list_by_namespace(None, limit=2, cursor=cursor)
        pages.append([(record.namespace, record.key) for record in page])
        if cursor is None:
            break

    found = [name for page in pages for name in page]
    assert [len(page) for page in pages] == [2, 2, 2]
    assert sorted(found) == sorted(names)
    async with begin(write=False) as transaction:
        whole, _ = await transaction.records.list_by_namespace(None)
        of_b, _ = await transaction.records.list_by_namespace("b")
    assert found == [(record.namespace, record.key) for record in whole]
    assert [record.key for record in of_b] == ["0", "1"]


@pytest.mark.parametrize("limit", [0, -1, 1001])
async def test_a_limit_outside_of_its_range_is_refused(begin: Begin, limit: int) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        async with begin(write=False) as transaction:
            await transaction.records.list_by_namespace(None, limit=limit)


async def test_a_cursor_from_elsewhere_is_refused(begin: Begin, bad_cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        async with begin(write=False) as transaction:
            await transaction.records.list_by_namespace(None, cursor=bad_cursor)


async def test_selecting_nothing_gives_nothing(begin: Begin) -> None:
    async with begin(write=False) as transaction:
        selected = await transaction.records.select([])

    assert selected == ({}, {})


async def test_another_agent_and_another_tenant_see_nothing(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        read = ReadRecord(namespace="p", key="a", version=1, value=1)
        await transaction.records.add_reads("j1", [read])

    for stranger in (begin(agent="eve"), begin(tenant="other")):
        async with stranger as transaction:
            assert await transaction.records.find("profile", "name") is None
            assert await transaction.records.list_by_namespace(None) == ((), None)
            assert await transaction.records.select([("profile", "name")]) == ({}, {})
            assert await transaction.records.list_reads("j1") == ()
            await transaction.records.remove_reads("j1")
            with pytest.raises(NotFoundError):
                await transaction.records.delete("profile", "name")

    async with begin(write=False) as transaction:
        assert (await transaction.records.get("profile", "name")).version == 1
        assert len(await transaction.records.list_reads("j1")) == 1
