"""With a key, Temporal holds nothing readable of a job; keys rotate, and a missing one is an error that passes."""

import base64
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretBytes, SecretStr
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.worker import Replayer

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.memory.errors import ConfigurationError, JobFailedError, PayloadKeyError
from mnestic.memory.names import inbox_workflow_id, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.deployments import find_obstacle
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.payloads import codec as payload_codec
from mnestic.starter.payloads.codec import EncryptionCodec, is_encrypted
from mnestic.starter.payloads.keys import PayloadKeys, payload_keys
from mnestic.starter.plugins import make_plugin
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.workflows.conftest import Until
from tests.workflows.conftest import until as until  # noqa: PLC0414 - a fixture

WORD = "quokka"
OLD, NEW = bytes(range(32)), bytes(range(1, 33))
PLAN = read_plan(Path(__file__).with_name("sealed.yaml"))
Run = Callable[[Settings], AbstractAsyncContextManager[MnesticClient]]


def keys_of(encrypts: str | None = None, **keys: bytes) -> PayloadKeys:
    return PayloadKeys(
        keys={key_id: SecretBytes(key) for key_id, key in keys.items()}, encrypts=encrypts
    )


def pairs(**keys: bytes) -> SecretStr:
    return SecretStr(
        ",".join(f"{key_id}:{base64.b64encode(key).decode()}" for key_id, key in keys.items())
    )


async def seal(payload: Payload, keys: PayloadKeys) -> Payload:
    (sealed,) = await EncryptionCodec(keys).encode([payload])
    return sealed


async def unseal(payload: Payload, keys: PayloadKeys) -> Payload:
    (plain,) = await EncryptionCodec(keys).decode([payload])
    return plain


@pytest.fixture
def payload() -> Payload:
    return Payload(metadata={"encoding": b"json/plain"}, data=f'"{WORD}"'.encode())


async def test_a_payload_comes_back_as_it_was_and_is_never_sealed_alike(payload: Payload) -> None:
    keys = keys_of("old", old=OLD)
    for size in (1, 10_000):
        payload.data = payload.data * size

        sealed = await seal(payload, keys)

        assert WORD.encode() not in sealed.SerializeToString()
        assert b"json/plain" not in sealed.SerializeToString()
        assert sealed.metadata["encryption-key-id"] == b"old"
        assert sealed.metadata["encryption-version"] == b"1"
        assert (sealed.metadata["compression"] == b"zlib") == (size > 1)
        assert len(sealed.data) < len(payload.data) + 100
        assert await unseal(sealed, keys_of(old=OLD)) == payload
        assert await seal(payload, keys) != sealed


async def test_only_what_was_encrypted_is_decrypted_and_only_with_its_key(
    payload: Payload,
) -> None:
    sealed = await seal(payload, keys_of("old", old=OLD))

    assert (is_encrypted(sealed), is_encrypted(payload)) == (True, False)
    assert await unseal(payload, keys_of("old", old=OLD)) == payload
    assert await unseal(payload, keys_of()) == payload
    assert await seal(payload, keys_of(old=OLD)) == payload  # with no key that encrypts
    assert await unseal(sealed, keys_of("new", old=OLD, new=NEW)) == payload
    for keys, why in (
        (keys_of(), "encrypted with key old, which is not among MNESTIC_PAYLOAD_KEYS; add it"),
        (keys_of("new", new=NEW), "encrypted with key old, which is not among"),
        (keys_of("old", old=NEW), "encrypted with key old, which does not open it"),
    ):
        with pytest.raises(PayloadKeyError, match=why):
            await unseal(sealed, keys)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("encryption-key-id", b"new"),
        ("compression", b"zlib"),
        ("encryption-version", b"2"),
        ("encryption-version", b""),
        *(("", kept) for kept in (0, 5, 12, 27)),
    ],
)
async def test_a_payload_that_was_cut_or_changed_or_what_stands_beside_it_is_refused(
    payload: Payload, name: str, value: Any
) -> None:
    keys = keys_of("old", old=OLD, new=OLD)
    sealed = await seal(payload, keys)
    if name:
        sealed.metadata[name] = value
    else:
        sealed.data = sealed.data[:value]

    with pytest.raises(PayloadKeyError):
        await unseal(sealed, keys)


async def test_a_payload_that_unpacks_to_too_much_is_refused() -> None:
    metadata = dict((await seal(Payload(data=b"x" * 999), keys_of("old", old=OLD))).metadata)
    bomb = zlib.compress(bytes(payload_codec._LARGEST_BYTES + 1))
    sealed = AESGCM(OLD).encrypt(bytes(12), bomb, payload_codec._authenticated(metadata))

    with pytest.raises(PayloadKeyError, match="unpacks to more than"):
        await unseal(Payload(metadata=metadata, data=bytes(12) + sealed), keys_of(old=OLD))
    large = await seal(Payload(data=bytes(payload_codec._LARGEST_BYTES)), keys_of("old", old=OLD))
    assert large.metadata["compression"] == b"", "it could not be unpacked"


ONE = pairs(old=OLD).get_secret_value()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"payload_keys": "abc"}, "MNESTIC_PAYLOAD_KEYS: must be pairs id:key"),
        ({"payload_keys": "old:very-secret"}, "key old is not 32 bytes in base64; make one"),
        ({"payload_keys": f"{ONE},{ONE}"}, "has the key old twice"),
        ({"payload_key_id": "old"}, "MNESTIC_PAYLOAD_KEY_ID: is old, which is none of the keys"),
        ({"payload_key_id": "a:very-secret"}, "MNESTIC_PAYLOAD_KEY_ID: is none of the keys"),
        ({"payload_keys_file": "/nowhere"}, "MNESTIC_PAYLOAD_KEYS_FILE: /nowhere cannot be read"),
    ],
    ids=str,
)
def test_a_malformed_key_is_one_error_without_the_key(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        payload_keys(Settings(**given))

    assert why in str(refused.value)
    assert "very-secret" not in str(refused.value)


def test_keys_come_from_a_file_as_well(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(pairs(new=NEW).get_secret_value() + "\n", encoding="ascii")

    found = payload_keys(
        Settings(payload_keys=pairs(old=OLD), payload_keys_file=path, payload_key_id="new")
    )

    assert found == keys_of("new", old=OLD, new=NEW)


@pytest.fixture
def run(memory: PostgresMemory) -> Run:
    """A client and a worker with the keys of some settings, for a block."""

    @asynccontextmanager
    async def run(settings: Settings) -> AsyncIterator[MnesticClient]:
        activities = activities_of(memory, model=LocalChatModel(), summariser=LocalSummariser())
        async with (
            await MnesticClient.connect(settings) as client,
            make_worker(client.temporal, settings, activities=activities),
        ):
            yield client

    return run


def with_keys(settings: Settings, *, encrypts: str | None, **keys: bytes) -> Settings:
    return settings.model_copy(update={"payload_keys": pairs(**keys), "payload_key_id": encrypts})


async def history_of(settings: Settings, workflow_id: str) -> bytes:
    """What Temporal holds of a workflow, as somebody without keys reads it."""
    stranger = await Client.connect(str(settings.temporal_address))
    handle = stranger.get_workflow_handle(workflow_id)
    events = [event.SerializeToString() async for event in handle.fetch_history_events()]
    described = (await handle.describe()).raw_description.SerializeToString()
    return b"".join([*events, described])


async def until_waiting(client: MnesticClient, until: Until, job_id: str) -> None:
    async def waiting() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(waiting)


async def start(client: MnesticClient, job_id: str) -> None:
    await client.start_job(
        PLAN,
        agent_id="ada",
        session_id=f"s-{job_id}",
        job_id=job_id,
        inputs={"animal": WORD},
    )


async def test_temporal_holds_no_word_of_a_job_and_its_owner_reads_all(
    settings: Settings, run: Run, until: Until
) -> None:
    sealed = with_keys(settings, encrypts="old", old=OLD)
    workflow_id = job_workflow_id(settings.tenant_id, "j1")
    async with run(sealed) as client:
        await start(client, "j1")
        await until_waiting(client, until, "j1")
        with pytest.raises(Exception, match="said"):  # by the form, through an update
            await client.resume_job("j1", {"other": WORD}, request_id="r0")
        await client.resume_job("j1", {"said": f"A {WORD}!"}, request_id="r1")
        with pytest.raises(JobFailedError, match=WORD) as failed:
            await client.wait_for_result("j1")
        timeline = await client.job_history("j1")
        described = await client.describe_job("j1")
        obstacle = await find_obstacle(client.temporal, workflow_id)
        working = await client.memory("ada").working_memory.get("s-j1")
        history = await client.temporal.get_workflow_handle(workflow_id).fetch_history()

    held = await history_of(sealed, workflow_id)
    assert WORD.encode() not in held
    assert b"Encoded failure" in held
    assert described.plan == "sealed"
    assert obstacle is None
    assert "node lost" in str(failed.value)
    told = [(entry.what, entry.detail) for entry in timeline.entries]
    assert [what for what, _ in told].count("wait_opened") == 1
    assert ("started", "sealed") in [(what, detail.get("plan")) for what, detail in told]
    assert "r1" in [detail.get("request_id") for _, detail in told]
    assert WORD in str(told[-1][1]["cause"])
    assert f"A {WORD}!" in [message.content for message in working.messages]
    plugin = make_plugin(payload_keys(sealed), tenant_id=settings.tenant_id)
    await Replayer(workflows=[], plugins=[plugin]).replay_workflow(history)


async def test_an_inbox_hears_what_was_encrypted_and_signals_that_were_not(
    settings: Settings, run: Run, client: MnesticClient, until: Until
) -> None:
    sealed = with_keys(settings, encrypts="old", old=OLD)

    async def learned() -> bool:
        return (await sealed_client.inbox("ada").status()).learned == 2

    async with run(sealed) as sealed_client:
        await sealed_client.inbox("ada").interaction(f"I have a {WORD}.", speaker="Mara")
        await client.inbox("ada").interaction("I live in Ghent.", speaker="Mara")
        await until(learned)

    held = await history_of(settings, inbox_workflow_id(settings.tenant_id, "ada"))
    assert WORD.encode() not in held
    assert b"Ghent" in held, "it came without a key"


@pytest.mark.acceptance
async def test_keys_rotate_while_a_job_waits_and_one_that_is_missing_is_named(
    settings: Settings, run: Run, client: MnesticClient, until: Until
) -> None:
    rotated = job_workflow_id(settings.tenant_id, "j2")

    async def stuck() -> bool:
        why = b"encrypted with key old, which is not among"
        return why in await history_of(settings, rotated)

    async with run(settings) as plain:
        await start(plain, "j1")
        await until_waiting(plain, until, "j1")
    async with await MnesticClient.connect(with_keys(settings, encrypts="old", old=OLD)) as sealed:
        await start(sealed, "j2")
        async with run(settings):
            await until(stuck)
    with pytest.raises(PayloadKeyError, match="encrypted with key old"):
        await client.job_history("j2")
    async with run(with_keys(settings, encrypts="new", old=OLD, new=NEW)) as opened:
        await until_waiting(opened, until, "j2")
        for job_id in ("j1", "j2"):
            await opened.resume_job(job_id, {"said": f"A {WORD}!"}, request_id="r1")
            with pytest.raises(JobFailedError, match=WORD):
                await opened.wait_for_result(job_id)

    held = await history_of(settings, rotated)
    assert WORD.encode() in await history_of(settings, job_workflow_id(settings.tenant_id, "j1"))
    assert b"encryption-key-id\x12\x03old" in held
    assert b"encryption-key-id\x12\x03new" in held
    assert WORD.encode() not in held
