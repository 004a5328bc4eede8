"""`mnestic config`: the settings in force, and where each came from."""

from rich.padding import Padding

from mnestic.starter.cli.output import AsJson, fits, out, print_json, print_table
from mnestic.starter.cli.overrides import command_settings, overrides
from mnestic.starter.setting_secrecy import shown_value
from mnestic.starter.settings import Settings, environment_name, source_of


def config(as_json: AsJson = False) -> None:
    """Show the settings in force and the source of each; secrets are hidden."""
    settings = command_settings()
    option_names = {name for name, value in overrides.items() if value is not None}
    rows = [
        {
            "setting": environment_name(field),
            "value": shown_value(field, getattr(settings, field)),
            "source": source_of(settings, field, options=option_names),
            "about": info.description,
        }
        for field, info in Settings.model_fields.items()
    ]
    if as_json:
        print_json(rows)
        return
    columns = ("setting", "value", "source", "about")
    cells = [tuple(row.values()) for row in rows]
    if fits(columns, cells):
        print_table(columns, cells, empty="")
        return
    for name, value, source, about in cells:  # a setting below the other, each with its lines
        out.print(f"{name} = {'' if value is None else value}  ({source})", soft_wrap=True)
        out.print(Padding(str(about or ""), (0, 0, 0, 4)))
