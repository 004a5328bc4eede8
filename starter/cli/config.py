"""`mnestic config`: the settings in force, and where each came from."""

from collections.abc import Callable
from typing import Any

from pydantic import SecretStr

from mnestic.starter.cli.output import AsJson, print_json, print_table
from mnestic.starter.cli.overrides import command_settings, overrides
from mnestic.starter.settings import Settings, environment_name, source_of


def config(as_json: AsJson = False) -> None:
    """Show the settings in force and where each came from; secrets are masked."""
    from mnestic.stores.postgres.schema import describe_url

    settings = command_settings()
    given = {name for name, value in overrides.items() if value is not None}
    rows = [
        {
            "setting": environment_name(field),
            "value": _shown(getattr(settings, field), describe_url),
            "source": source_of(settings, field, options=given),
            "about": info.description,
        }
        for field, info in Settings.model_fields.items()
    ]
    if as_json:
        print_json(rows)
        return
    columns = ("setting", "value", "source", "about")
    print_table(columns, [tuple(row.values()) for row in rows], empty="no settings")


def _shown(value: Any, describe_url: Callable[[str], str]) -> str | None:
    if value is None:
        return None
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if "://" in text:
        return describe_url(text)
    return "***" if isinstance(value, SecretStr) else text
