"""The pages in `docs/reference/` are what the code gives."""

from pathlib import Path

import pytest

from docs.generate import PARTS, pages
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.settings import Settings, environment_name

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize(("name", "text"), pages().items(), ids=list(pages()))
def test_a_page_is_what_the_code_gives(name: str, text: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")

    assert written == text, "run `make reference`"


def test_nothing_else_is_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(pages())


def test_all_settings_and_commands_are_there() -> None:
    settings, commands = pages()["settings.md"], pages()["cli.md"]

    assert all(f"| `{environment_name(name)}` |" in settings for name in Settings.model_fields)
    for command in ("mnestic up", "mnestic job resume", "mnestic memory facts history"):
        assert f"## `{command}`" in commands


def test_all_parts_of_a_memory_are_there() -> None:
    methods = pages()["python.md"]

    assert set(PARTS.values()) == set(ClientPart.__subclasses__())
    assert all(f"### {path}." in methods for path in PARTS)
