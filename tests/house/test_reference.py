"""The pages in `docs/reference/` are what the code gives."""

from pathlib import Path

import pytest

from docs.generate import PARTS, pages
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.settings import Settings, environment_name

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """Each page by its name, as the code gives it."""
    return pages()


def test_each_page_is_what_the_code_gives(generated: dict[str, str]) -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert written == generated, "run `make reference`"


def test_all_settings_and_commands_are_there(generated: dict[str, str]) -> None:
    settings, commands = generated["settings.md"], generated["cli.md"]

    assert all(f"| `{environment_name(name)}` |" in settings for name in Settings.model_fields)
    for command in ("mnestic up", "mnestic job resume", "mnestic memory facts history"):
        assert f"## `{command}`" in commands


def test_all_parts_of_a_memory_are_there(generated: dict[str, str]) -> None:
    methods = generated["python.md"]

    assert set(PARTS.values()) == set(ClientPart.__subclasses__())
    assert all(f"### {path}." in methods for path in PARTS)
