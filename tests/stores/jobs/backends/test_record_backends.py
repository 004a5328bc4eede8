"""Backends of records: the same of each, Mnestic's own database, another Postgres, and Redis."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import BackendUnavailableError, ConfigurationError
from mnestic.memory.jobs.long_term.backends import BackendRecord, RecordPlace
from mnestic.memory.jobs.ports import RecordBackend
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.starter.settings import Settings
from tests.stores.jobs.backends.conftest import Notes, remote

on_each = pytest.mark.parametrize("backend", [None, "REMOTE", "REDIS"])
on_each_remote = pytest.mark.parametrize("opened", ["REMOTE", "REDIS"], indirect=True)
VALUES = (
    "",
    0,
    -1.5,
    False,
    [],
    {},
    {"a": [1, {"b": None}]},
    "東京 🙂 \u2028",
    2**200,
    "x" * 10**6,
)
KEYS = ("a b", "a:b", "a/b", "%3A", "*", "{slot}", "'; --", "東京 🙂", "x" * 256)


@on_each
async def test_each_value_and_each_key_is_stored_as_it_was_written(
    notes: Notes, backend: str | None
) -> None:
    await notes.put_in(backend)
    expected: dict[str, Any] = {f"k{number}": value for number, value in enumerate(VALUES)}
    expected |= {key: {"is": key} for key in KEYS}

    async with notes.begin() as transaction:
        for key, value in expected.items():
            await transaction.records.set("notes", key, value, metadata={"of": key})

    for key, value in expected.items():
        found = await notes.stored(key)
        assert found is not None
        assert (found.value, type(found.value), found.metadata) == (value, type(value), {"of": key})


@on_each
async def test_what_is_overwritten_deleted_and_written_again_is_so_there(
    notes: Notes, backend: str | None
) -> None:
    await notes.put_in(backend)

    seen = []
    for value in ("first", "second", None, "third"):
        await notes.write(value)
        seen.append(await notes.there())

    assert seen == [("first", 1), ("second", 2), None, ("third", 4)]


@on_each
async def test_a_record_expires_there(notes: Notes, backend: str | None) -> None:
    await notes.put_in(backend)

    async with notes.begin() as transaction:
        record = await transaction.records.set("notes", "k", 1, ttl=timedelta(milliseconds=700))
        await transaction.records.set("notes", "long", 1, ttl=timedelta(days=1))

    before = await notes.stored()
    assert before is not None
    assert before.expires_at == record.expires_at
    async with asyncio.timeout(5):
        while await notes.there() is not None:  # noqa: ASYNC110 - a clock of the server's ends it
            await asyncio.sleep(0.05)
    assert await notes.there("long") == (1, 1)


@on_each
async def test_of_concurrent_writes_the_newest_is_there(notes: Notes, backend: str | None) -> None:
    await notes.put_in(backend)

    versions = await asyncio.gather(*map(notes.write, range(10)))

    assert await notes.there() == (versions.index(10), 10)


@pytest.fixture
async def opened(
    request: pytest.FixtureRequest, addresses: dict[str, str]
) -> AsyncIterator[RecordBackend]:
    """A backend, ready to be written, by the name of its variable."""
    backends = OpenBackends(addresses)
    backend = await backends.open(remote(request.param))
    await backend.prepare()
    yield backend
    await backends.close()


@pytest.fixture
def record(settings: Settings) -> BackendRecord:
    place = {"tenant_id": settings.tenant_id, "agent_id": "a", "schema_id": "s", "key": "k"}
    return BackendRecord(**place, version=5, value="five", updated_at=datetime.now(UTC))


@on_each_remote
async def test_what_comes_late_or_twice_changes_nothing(
    opened: RecordBackend, record: BackendRecord
) -> None:
    older = record.model_copy(update={"version": 4, "value": "four"})
    gone = record.model_copy(update={"version": 6, "value": None})

    assert await opened.write([record]) == (5,)
    assert await opened.write([older, record, gone.model_copy(update={"version": 3})]) == (5, 5, 5)
    assert await opened.find(record) == record
    assert await opened.write([gone, gone]) == (6, 6)
    assert await opened.find(record) is None


@on_each_remote
async def test_records_of_others_are_others(opened: RecordBackend, record: BackendRecord) -> None:
    await opened.write([record])

    for part in RecordPlace.model_fields:
        assert await opened.find(record.model_copy(update={part: "other"})) is None


@pytest.mark.parametrize(
    ("name", "address", "error"),
    [
        ("REMOTE", "postgresql://me:hunter2@127.0.0.1:1/d", BackendUnavailableError),
        ("REMOTE", "postgresql://me:hunter2@[", ConfigurationError),
        ("REDIS", "redis://:hunter2@127.0.0.1:1/0", BackendUnavailableError),
        ("REDIS", "http://:hunter2@h", ConfigurationError),
    ],
)
async def test_an_error_names_the_backend_and_no_secret(
    name: str, address: str, error: type[Exception]
) -> None:
    backends = OpenBackends({name: address})

    with pytest.raises(error, match="backend main") as caught:
        await (await backends.open(remote(name))).prepare()

    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__
    await backends.close()
