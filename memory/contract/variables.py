"""Variables of a document: `${NAME}` in a text stands for a value of the environment.

Secrets come this way: a stored document has the placeholders, and only what opens a backend fills them in. `$${` stands
for `${`; every other `$` stands for itself. Keys are never filled in, nor is what was filled in.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mnestic.memory.errors import ConfigurationError

_TOKEN = re.compile(r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]{0,127})\}|(?P<malformed>\$\{)")
_IN_OPTION = re.compile(
    r"(?:password|passwd|pwd|passphrase|secret|token|api_?key)\s*=\s*['\"]?[^\s&;'\"]",
    re.IGNORECASE,
)


def variables_of(document: Any) -> dict[str, tuple[str, ...]]:
    """The names of a document's variables, each with the paths of the texts that have it."""
    paths: dict[str, list[str]] = {}
    for path, text in _texts(document):
        for name in dict.fromkeys(match["name"] for match in _TOKEN.finditer(text)):
            if name is not None:
                paths.setdefault(name, []).append(path)
    return {name: tuple(places) for name, places in paths.items()}


def malformed_variables(document: Any) -> Iterator[str]:
    """The paths of texts with a `${` that begins no `${NAME}`."""
    for path, text in _texts(document):
        if any(match["malformed"] for match in _TOKEN.finditer(text)):
            yield path


def filled(document: Any, environment: Mapping[str, str]) -> Any:
    """A copy of a document with its variables filled in. It may hold secrets, so it is never stored, logged or checked.

    Raises:
        ConfigurationError: Variables are not set; names all of them, with their paths.
    """
    unset = {n: paths for n, paths in variables_of(document).items() if n not in environment}
    if unset:
        needed = (f"{', '.join(paths)} needs {name}" for name, paths in unset.items())
        why = f"not set in the environment; {'; '.join(needed)}"
        raise ConfigurationError(setting=", ".join(unset), why=why)
    return _each_text(document, environment)


def has_password(text: str) -> bool:
    """Whether a text has a password as it is, such as `redis://:hunter2@host` or `password=hunter2`."""
    bare = _TOKEN.sub(lambda match: "" if match["name"] else match[0], text)
    return _IN_OPTION.search(bare) is not None or any(map(_has_userinfo_password, bare.split()))


def _has_userinfo_password(address: str) -> bool:
    userinfo = address.partition("://")[2].rpartition("@")[0]
    return userinfo.partition(":")[2] != ""


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each text of a document with its path, such as `Memory.long_term.schemas[0].backend`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")


def _each_text(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _TOKEN.sub(lambda match: _replacement(match, environment), value)
    if isinstance(value, Mapping):
        return {key: _each_text(item, environment) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(item, environment) for item in value]
    return value


def _replacement(match: re.Match[str], environment: Mapping[str, str]) -> str:
    return environment[match["name"]] if match["name"] else "${"
