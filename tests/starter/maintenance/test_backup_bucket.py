"""Copies of backups in a bucket of a server of S3, and the way back from there."""

import shutil
from collections.abc import Iterator

import httpx2
import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import from_url

from mnestic.memory.errors import ConfigurationError, NotFoundError, UnavailableError
from mnestic.starter.maintenance.backup_client import BackupClient
from mnestic.starter.maintenance.backup_settings import BackupOptions
from mnestic.stores.s3.backup_bucket import BackupBucket
from tests.starter.maintenance.conftest import Place

BUCKET = "s3://backups/mnestic"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of S3 with a bucket, which `AWS_…` names."""
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    httpx2.put(f"{address}/backups").raise_for_status()
    yield address
    server.stop()


def ids_in(bucket: str) -> set[str]:
    """The backups of which something is in a bucket."""
    pages = obstore.list(from_url(bucket))
    return {one["path"].partition("/")[0] for page in pages for one in page}


@pytest.mark.usefixtures("server")
async def test_each_backup_is_copied_to_a_bucket_from_which_it_is_fetched(place: Place) -> None:
    await place.fill()
    before = place.rows()
    options = BackupOptions(key=b"k" * 32, bucket=BUCKET)
    backups = BackupClient(place.url, place.folder, tenant_id="ours", options=options)
    theirs = BackupClient(place.url, place.folder, tenant_id="theirs", options=options)
    first, last = [(await backups.create()).manifest.id for _ in range(2)]
    obstore.delete(from_url(BUCKET), f"{last}/manifest.json")

    again = (await backups.create(backup_id=last)).manifest.id  # as another attempt does
    both = ids_in(BUCKET)
    await backups.prune(keep=1)
    shutil.rmtree(place.folder)
    place.empty("ours")
    with pytest.raises(NotFoundError, match=f"no backup in s3://backups/mnestic {first}"):
        await backups.fetch(first)
    with pytest.raises(NotFoundError):
        await theirs.fetch(last)
    await backups.fetch(last)
    await backups.restore(last)

    assert (again, both, ids_in(BUCKET)) == (last, {first, last}, {last})
    assert {name: rows for name, rows in place.rows().items() if rows != before[name]} == {}


@pytest.mark.usefixtures("server")
def test_a_bucket_that_is_not_there_or_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    obstore.put(from_url(BUCKET), "one/manifest.json", b"{}")
    copies = BackupBucket(BUCKET)

    with pytest.raises(ConfigurationError, match="MNESTIC_BACKUP_BUCKET"):
        BackupBucket("nonsense")
    with pytest.raises(ConfigurationError, match=r"MNESTIC_BACKUP_BUCKET: .*404"):
        BackupBucket("s3://nowhere").copy_from(copies, "one")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(UnavailableError, match="s3://elsewhere does not answer"):
        BackupBucket("s3://elsewhere").copy_from(copies, "one")
