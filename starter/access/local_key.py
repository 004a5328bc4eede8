"""The API key of the machine's owner: made once for the embedded runtime, in a file that only the owner reads."""

import os
from pathlib import Path

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.access.api_keys import ApiKeyClient
from mnestic.starter.settings import Settings

_FILE = "api.key"  # in the data directory


def local_key_file(settings: Settings) -> Path:
    """The file of the key, whether there is one or not."""
    return settings.data_dir.expanduser().resolve() / _FILE


async def ensure_local_key(keys: ApiKeyClient, path: Path) -> None:
    """Makes a key for all agents and actions, unless the file has a valid one.

    Raises:
        ConfigurationError: the file cannot be read or written.
        MnesticError: the database does not answer.
    """
    text = _read(path)
    if text is None or not await _is_valid(keys, text):
        issued = await keys.create(agents=[EVERY_AGENT], actions=ACTIONS)
        _write(path, issued.text)


async def _is_valid(keys: ApiKeyClient, text: str) -> bool:
    try:
        await keys.verify(text)
    except UnauthenticatedError:
        return False
    return True


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from None


def _write(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
        beside.replace(path)
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: Exception) -> ConfigurationError:
    return ConfigurationError(setting="MNESTIC_DATA_DIR", why=f"{path} cannot be used: {error}")
