"""The secret of keep-outs: from the settings, or a file in the data directory that is made when it is first needed.

It stands outside of the database on purpose: beside the hashes it would protect them from nobody who has both.
"""

import base64
import binascii
import os
import secrets
from pathlib import Path

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.settings import Settings

_KEY_BYTES = 32
_SETTING = "MNESTIC_KEEP_OUT_KEY"
_FILE = "keep_out.key"  # in the data directory


class SuppressionSecret:
    """Implements `mnestic.memory.forgetting.suppression_list.SuppressionSecrets`."""

    def __init__(self, settings: Settings) -> None:
        self._given = settings.keep_out_key
        self._path = settings.data_dir / _FILE

    def find(self) -> bytes | None:
        """See the protocol."""
        if self._given is not None:
            return _decoded(self._given.get_secret_value(), "is")
        try:
            return _decoded(self._path.read_text(encoding="ascii"), f"is in {self._path}, which is")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(self._path, error) from None

    def find_or_make(self) -> bytes:
        """See the protocol."""
        found = self.find()
        if found is not None:
            return found
        made = base64.b64encode(secrets.token_bytes(_KEY_BYTES))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _write_new(self._path, made)
        except OSError as error:
            raise _unreadable(self._path, error) from None
        again = self.find()
        assert again is not None
        return again


def _write_new(path: Path, content: bytes) -> None:
    """Writes a file that only its owner reads, whole; whoever else made it at the same time was first."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.link(beside, path)
    except FileExistsError:
        pass  # theirs is the secret
    finally:
        beside.unlink()


def _decoded(text: str, where: str) -> bytes:
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) != _KEY_BYTES:
        why = f"{where} not {_KEY_BYTES} bytes in base64; make one: openssl rand -base64 32"
        raise ConfigurationError(setting=_SETTING, why=why)
    return secret


def _unreadable(path: Path, error: Exception) -> ConfigurationError:
    reason = error.strerror if isinstance(error, OSError) else "is no text"
    return ConfigurationError(
        setting=_SETTING, why=f"is not set, and {path} cannot be used: {reason}"
    )
