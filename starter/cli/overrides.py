"""The options that override settings, from the command line to the settings."""

from typing import Any

from mnestic.starter.settings import Settings, load_settings

overrides: dict[str, Any] = {}
"""Filled by the root command before any other runs."""


def command_settings(**more: Any) -> Settings:
    """The settings in force for a command; its own options come first.

    Raises:
        ConfigurationError: a value is malformed.
    """
    given = {name: value for name, value in more.items() if value is not None}
    return load_settings(**{**overrides, **given})
