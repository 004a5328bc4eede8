"""The options that override settings, from the command line to the settings."""

from typing import TYPE_CHECKING, Any

from mnestic.starter.cli.output import print_warning

if TYPE_CHECKING:
    from mnestic.starter.settings import Settings

overrides: dict[str, Any] = {}
"""Filled by the root command before any other runs."""


def command_settings(**more: Any) -> "Settings":
    """The settings in force for a command; its own options come first.

    Raises:
        ConfigurationError: a value is malformed.
    """
    from mnestic.starter.settings import load_settings
    from mnestic.starter.unknown_variables import describe_unknown_variables

    for line in describe_unknown_variables():
        print_warning(line)
    options = {name: value for name, value in more.items() if value is not None}
    return load_settings(**{**overrides, **options})
