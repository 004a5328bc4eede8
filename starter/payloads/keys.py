"""The keys that payloads are encrypted with, as the settings give them.

A malformed key is refused where the settings are read.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretBytes

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.settings import Settings

_KEYS = "MNESTIC_PAYLOAD_KEYS"
_FILE = "MNESTIC_PAYLOAD_KEYS_FILE"
_KEY_ID = "MNESTIC_PAYLOAD_KEY_ID"
_KEY_BYTES = 32  # AES-256
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class PayloadKeys(BaseModel):
    """All keys that can decrypt, by id, and the id of the one that encrypts; without one nothing is encrypted."""

    model_config = ConfigDict(frozen=True)

    keys: Mapping[str, SecretBytes] = Field(default_factory=dict)
    encrypts: str | None = None


def payload_keys(settings: Settings) -> PayloadKeys:
    """The keys that the settings give.

    Raises:
        ConfigurationError: a key is malformed, the file cannot be read, or the key that encrypts is none of them.
    """
    keys: dict[str, SecretBytes] = {}
    for setting, text in _texts(settings):
        for pair in re.split(r"[\s,]+", text.strip()) if text.strip() else ():
            key_id, key = _read_pair(pair, setting)
            if key_id in keys:
                raise ConfigurationError(setting=setting, why=f"has the key {key_id} twice")
            keys[key_id] = key
    encrypts = settings.payload_key_id
    if encrypts is not None and encrypts not in keys:
        there = ", ".join(keys) or "no key"
        named = f"is {encrypts}, which is" if _NAME.fullmatch(encrypts) else "is"
        why = f"{named} none of the keys; {_KEYS} and {_FILE} hold {there}"
        raise ConfigurationError(setting=_KEY_ID, why=why)
    return PayloadKeys(keys=keys, encrypts=encrypts)


def _texts(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each setting that has keys, and its value."""
    if settings.payload_keys is not None:
        yield _KEYS, settings.payload_keys.get_secret_value()
    if settings.payload_keys_file is not None:
        yield _FILE, _read_file(settings.payload_keys_file)


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        why = f"{path} is no text of keys"
    raise ConfigurationError(setting=_FILE, why=why) from None


def _read_pair(pair: str, setting: str) -> tuple[str, SecretBytes]:
    """A key's id, and the key; errors do not contain the key."""
    key_id, _, encoded = pair.partition(":")
    if not _NAME.fullmatch(key_id) or not encoded:
        why = (
            "must be pairs id:key, separated by commas or white space, with ids of at most 64 "
            "letters, digits and ._-"
        )
        raise ConfigurationError(setting=setting, why=why)
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != _KEY_BYTES:
        why = f"key {key_id} is not {_KEY_BYTES} bytes in base64; make one: openssl rand -base64 32"
        raise ConfigurationError(setting=setting, why=why)
    return key_id, SecretBytes(key)
