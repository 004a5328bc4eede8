"""`EncryptionCodec`: compresses and encrypts the payloads of Temporal, if there is a key.

Client, worker and Replayer take it through `MnesticPlugin`; a codec endpoint for the Temporal UI would call
its `decode`.
"""

import os
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from mnestic.memory.errors import PayloadKeyError
from mnestic.starter.payloads.keys import PayloadKeys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENCODING = b"binary/mnestic-encrypted"
_VERSION = b"1"  # of this format
_ZLIB = b"zlib"
_NONCE_BYTES = 12  # Source: NIST SP 800-38D, 8.2.2: random, so a key serves for 2^32 payloads
_LARGEST_BYTES = 32 * 1024 * 1024  # of a payload that was compressed; Temporal carries 2 MiB


class EncryptionCodec(PayloadCodec):
    """AES-256-GCM over a payload with its metadata, which zlib has compressed where that makes it smaller.

    The id of the key, the version of the format and the compression stand beside it, and are authenticated. Payloads
    that nobody has encrypted pass as they are, so that jobs go on that began before there was a key.
    """

    def __init__(self, keys: PayloadKeys) -> None:
        self._ciphers = _ciphers(keys)
        self._key_id = keys.encrypts

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See the base class."""
        key_id = self._key_id
        return [each if key_id is None else self._encrypt(each, key_id) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypts what was encrypted.

        Raises:
            PayloadKeyError: a payload's key is not there, or is not the one that it was encrypted with.
        """
        return [self._decrypt(each) if is_encrypted(each) else each for each in payloads]

    def _encrypt(self, payload: Payload, key_id: str) -> Payload:
        plain = payload.SerializeToString()
        packed = zlib.compress(plain) if len(plain) <= _LARGEST_BYTES else plain
        smaller = len(packed) < len(plain)
        metadata = {
            "encoding": ENCODING,
            "encryption-version": _VERSION,
            "encryption-key-id": key_id.encode(),
            "compression": _ZLIB if smaller else b"",
        }
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[key_id].encrypt(
            nonce, packed if smaller else plain, _authenticated(metadata)
        )
        return Payload(metadata=metadata, data=nonce + sealed)

    def _decrypt(self, payload: Payload) -> Payload:
        metadata = dict(payload.metadata)
        key_id = metadata.get("encryption-key-id", b"").decode(errors="replace")
        version = metadata.get("encryption-version", b"")
        if version != _VERSION:
            why = f"is in format {version.decode(errors='replace')!r}, which this version does not know"
            raise PayloadKeyError(key_id=key_id, why=f"{why}; install a newer one")
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            why = "which is not among MNESTIC_PAYLOAD_KEYS; add it there"
            raise PayloadKeyError(key_id=key_id, why=why)
        nonce, sealed = payload.data[:_NONCE_BYTES], payload.data[_NONCE_BYTES:]
        try:
            packed = cipher.decrypt(nonce, sealed, _authenticated(metadata))
        except Exception:  # noqa: BLE001 - one kind, of the library that is loaded where there are keys
            why = "which does not open it: MNESTIC_PAYLOAD_KEYS has another key under that id, or it was changed"
            raise PayloadKeyError(key_id=key_id, why=why) from None
        plain = _unpacked(packed, key_id) if metadata.get("compression") == _ZLIB else packed
        return Payload.FromString(plain)


def _ciphers(keys: PayloadKeys) -> dict[str, "AESGCM"]:
    if not keys.keys:
        return {}
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - 0.1 s

    return {key_id: AESGCM(key.get_secret_value()) for key_id, key in keys.keys.items()}


def is_encrypted(payload: Payload) -> bool:
    """Whether this codec made it."""
    return payload.metadata.get("encoding") == ENCODING


def _authenticated(metadata: dict[str, bytes]) -> bytes:
    """The authenticated data beside the encrypted data, each part with its length."""
    parts = (
        metadata.get(name, b"")
        for name in ("encoding", "encryption-version", "encryption-key-id", "compression")
    )
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _unpacked(packed: bytes, key_id: str) -> bytes:
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(packed, _LARGEST_BYTES)
    if not unpacking.eof:
        why = f"which unpacks to more than {_LARGEST_BYTES} bytes"
        raise PayloadKeyError(key_id=key_id, why=why)
    return plain
