"""`mnestic config`: the settings in force, and where each came from."""

from typing import Any

from pydantic import SecretStr

from mnestic.starter.cli.output import AsJson, print_json, print_table
from mnestic.starter.cli.overrides import command_settings
from mnestic.starter.settings import Settings, environment_name, source_of
from mnestic.stores.postgres.schema import describe_url


def config(as_json: AsJson = False) -> None:
    """Show the settings in force and where each came from; secrets are masked."""
    settings = command_settings()
    rows = [
        {
            "setting": environment_name(field),
            "value": _shown(getattr(settings, field)),
            "source": source_of(settings, field),
            "about": info.description,
        }
        for field, info in Settings.model_fields.items()
    ]
    if as_json:
        print_json(rows)
        return
    columns = ("setting", "value", "source", "about")
    print_table(columns, [tuple(row.values()) for row in rows], empty="no settings")


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return describe_url(secret) if "://" in secret else "***"
    return str(value)
