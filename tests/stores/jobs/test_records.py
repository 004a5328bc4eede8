"""Long-term records, in every implementation of `Memory`."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.errors import InvalidInputError, NotFoundError, StaleVersionError
from mnestic.starter.settings import Settings
from tests.activities.locks import until_held_up
from tests.stores.conftest import Begin

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


VALUES = (
    "text",
    "",
    0,
    -1.5,
    False,
    [],
    {},
    {"a": [1, {"b": None}]},
    "東京 🙂 \u2028",
    2**200,
    [None],
)


async def test_a_value_comes_back_as_it_was_written(begin: Begin) -> None:
    async with begin() as transaction:
        written = [
            await transaction.records.set("profile", str(place), value)
            for place, value in enumerate(VALUES)
        ]

    async with begin(write=False) as transaction:
        found = [await transaction.records.get("profile", one.key) for one in written]
    assert found == written
    expected = [(value, type(value), 1) for value in VALUES]
    assert [(one.value, type(one.value), one.version) for one in found] == expected


async def test_each_write_is_a_version_and_keeps_when_it_was_made(begin: Begin) -> None:
    async with begin() as transaction:
        first = await transaction.records.set("profile", "name", "Mara")
    async with begin() as transaction:
        second = await transaction.records.set("profile", "name", "Maria")

    assert (first.version, second.version) == (1, 2)
    assert second.created_at == first.created_at < second.updated_at


async def test_a_deleted_record_is_gone_and_its_version_goes_on(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        deleted = await transaction.records.delete("profile", "name")
        for key in ("name", "never"):
            with pytest.raises(NotFoundError, match=key):
                await transaction.records.delete("profile", key)
    async with begin(write=False) as transaction:
        with pytest.raises(NotFoundError, match="profile/name"):
            await transaction.records.get("profile", "name")
        live, versions = await transaction.records.select([("profile", "name")])
        nothing = await transaction.records.select([])
    async with begin() as transaction:
        again = await transaction.records.set("profile", "name", "Maria")

    assert (deleted.version, live, nothing) == (2, {}, ({}, {}))
    assert versions == {("profile", "name"): 2}
    assert (again.version, again.created_at) == (3, again.updated_at)


async def test_a_write_based_on_the_stored_version_is_taken(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara", expected_version=0)
        second = await transaction.records.set("profile", "name", "Maria", expected_version=1)
        deleted = await transaction.records.delete("profile", "name", expected_version=2)
        again = await transaction.records.set("profile", "name", "Marie", expected_version=0)

    assert (second.version, deleted.version, again.version) == (2, 3, 4)


async def test_a_write_based_on_another_version_is_refused_with_what_is_stored(
    begin: Begin,
) -> None:
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "Mara")
        stored = await transaction.records.set("profile", "name", "Maria")

    async with begin() as transaction:
        for expected in (0, 1, 3):
            with pytest.raises(StaleVersionError, match="profile/name") as caught:
                await transaction.records.set("profile", "name", "x", expected_version=expected)
            with pytest.raises(StaleVersionError):
                await transaction.records.delete("profile", "name", expected_version=expected)
            assert (caught.value.expected, caught.value.stored) == (expected, stored)
        with pytest.raises(StaleVersionError) as caught:
            await transaction.records.set("profile", "never", "x", expected_version=4)

    assert (caught.value.stored_version, caught.value.stored) == (0, None)
    async with begin(write=False) as transaction:
        assert await transaction.records.get("profile", "name") == stored
        assert await transaction.records.find("profile", "never") is None


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


async def test_who_deletes_a_version_waits_for_a_writer_and_is_refused(
    begin: Begin, admin_url: str
) -> None:
    async def delete() -> None:
        async with begin() as transaction:
            await transaction.records.delete("profile", "name", expected_version=1)

    async with begin() as transaction:
        await transaction.records.set("profile", "name", "first")
    async with begin() as transaction:
        await transaction.records.set("profile", "name", "second", expected_version=1)
        late = asyncio.create_task(delete())
        await until_held_up(admin_url)

    with pytest.raises(StaleVersionError):
        await late
    async with begin(write=False) as transaction:
        assert (await transaction.records.get("profile", "name")).value == "second"


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


REFUSED: tuple[tuple[str, str, Any], ...] = (
    ("", "name", 1),
    ("n", "", 1),
    ("n" * 257, "k", 1),
    ("n", "k" * 257, 1),
    ("n", "k", None),
    ("n", "k", float("nan")),
    ("n", "k", b"bytes"),
    ("n", "k", {"made": timedelta(1)}),
    ("n", "k", 10**5000),
)


async def test_what_cannot_be_stored_is_refused_and_the_longest_names_are_taken(
    begin: Begin,
) -> None:
    longest = ("名" * 256, "🙂" * 256)

    async with begin() as transaction:
        for namespace, key, value in REFUSED:
            with pytest.raises(InvalidInputError):
                await transaction.records.set(namespace, key, value)
        for ttl in (timedelta(0), -HOUR, timedelta.max):
            with pytest.raises(InvalidInputError):
                await transaction.records.set("n", "k", 1, ttl=ttl)
        await transaction.records.set(*longest, 1)

    async with begin(write=False) as transaction:
        (kept,), _ = await transaction.records.list_by_namespace(None)
        of_it, _ = await transaction.records.list_by_namespace(longest[0])
        assert await transaction.records.list_by_namespace("other") == ((), None)
    assert (kept.namespace, kept.key) == longest
    assert of_it == (kept,)
