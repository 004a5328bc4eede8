"""Finds variables with an unknown or old name of a setting, and suggests the setting.

A setting that nobody knows is no error: an older version may run with the environment of a newer one. But it has no
effect, so whoever starts the process should see it.
"""

import os
from collections.abc import Iterator
from difflib import get_close_matches

from dotenv import dotenv_values

from mnestic.starter.settings import ENV_FILE, Settings, environment_name, environment_names

_PREFIX = "MNESTIC_"
_OF_TESTS = "MNESTIC_TEST_"


def describe_unknown_variables() -> tuple[str, ...]:
    """One line for each unknown or renamed variable of the environment and of `.env`; values are not part of it."""
    current = {environment_name(field): environment_names(field) for field in Settings.model_fields}
    old = {name: new for new, (_, *names) in current.items() for name in names}
    known = list(current)
    return tuple(
        f"{name}{where} is an old name; set {old[name.upper()]} instead"
        if name.upper() in old
        else _describe(name, where, known)
        for name, where in _unknown(known)
    )


def _unknown(known: list[str]) -> Iterator[tuple[str, str]]:
    """The unknown names, each once, and where they are set."""
    seen = {*known, "MNESTIC_COMPLETE"}  # set by a shell's completion
    for where, names in (("", list(os.environ)), (" in .env", list(dotenv_values(ENV_FILE)))):
        for name in sorted(names):
            if name.upper().startswith(_PREFIX) and not name.upper().startswith(_OF_TESTS):
                if name.upper() not in seen:
                    yield name, where
                seen.add(name.upper())


def _describe(name: str, where: str, known: list[str]) -> str:
    # Compared without the prefix, which all share, so that it does not make them alike.
    ends = {one.removeprefix(_PREFIX): one for one in known}
    near = get_close_matches(name.upper().removeprefix(_PREFIX), ends, n=1)
    meant = (
        f"did you mean {ends[near[0]]}?" if near else "`mnestic config` lists those that there are"
    )
    return f"{name}{where} is no setting and has no effect; {meant}"
