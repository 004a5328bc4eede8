"""The README says what is true of the code: settings, commands, links, and examples that work."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from mnestic.memory.agent_settings import AgentSettings
from mnestic.memory.plans import Plan
from mnestic.starter.cli.app import app
from mnestic.starter.plans import parse_plan
from mnestic.starter.settings import Settings, environment_name

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
)
NODE_KINDS = ("think", "tool", "recall", "remember", "emit", "wait")


def rows() -> list[str]:
    return [line for line in README.splitlines() if line.startswith("| ")]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, ...]]:
    """Each command by its words: `up`, `job start`."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        nested = getattr(command, "commands", None)
        yield from ((name, inner) for inner in nested) if nested else ((name,),)


def links() -> list[tuple[Path, str]]:
    found = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    ]
    return [(page, target) for page, target in found if not target.startswith(("http", "#"))]


@pytest.mark.parametrize("field", Settings.model_fields)
def test_each_setting_has_a_row_with_its_default(field: str) -> None:
    found = [row for row in rows() if row.startswith(f"| `{environment_name(field)}` |")]

    assert len(found) == 1
    info = Settings.model_fields[field]
    assert f"| {info.description} |" in found[0]
    if info.default_factory is None:
        default = "" if info.default is None else f"`{info.default}`"
        assert found[0].split(" | ")[1].strip(" |") == default


def test_each_setting_of_an_agent_has_a_row_with_its_default() -> None:
    page = (ROOT / "docs" / "agent-settings.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z_]+)` \| `(.*)` \| (.*) \|$", page, flags=re.MULTILINE)

    told = [
        (name, default if isinstance(default, str) else json.dumps(default), field.description)
        for (name, field), default in zip(
            AgentSettings.model_fields.items(),
            AgentSettings().model_dump(mode="json").values(),
            strict=True,
        )
    ]

    assert [row for row in named if row[0] in AgentSettings.model_fields] == told


def test_no_row_names_a_setting_that_is_not_there() -> None:
    known = {environment_name(field) for field in Settings.model_fields}

    named = {name for row in rows() for name in re.findall(r"^\| `([A-Z_]+)` \|", row)}

    assert named == known


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_each_command_has_a_row(words: tuple[str, ...]) -> None:
    named = re.compile(rf"`(mnestic {words[0]} )?{words[-1]}`|`mnestic {words[-1]}`")

    found = [
        row for row in rows() if row.startswith(f"| `mnestic {words[0]}") and named.search(row)
    ]

    assert len(found) == 1


@pytest.mark.parametrize(("page", "target"), links(), ids=str)
def test_each_relative_link_leads_somewhere(page: Path, target: str) -> None:
    assert (page.parent / target.partition("#")[0]).exists()


def test_the_plan_parses_and_its_nodes_are_of_the_kinds_in_the_table() -> None:
    plans = [parse_plan(text, source="README.md") for text in blocks("yaml")]

    assert len(plans) == 1
    assert isinstance(plans[0], Plan)
    assert {node.kind for node in plans[0].nodes} <= set(NODE_KINDS)
    for kind in NODE_KINDS:
        assert any(row.startswith(f"| `{kind}` |") for row in rows())


def test_the_python_examples_compile() -> None:
    examples = blocks("python")

    assert examples
    for example in examples:
        compile(example, "README.md", "exec")


def test_the_make_targets_are_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

    named = {
        name for page in PAGES for name in re.findall(r"`make ([a-z]+)", page.read_text("utf-8"))
    }
    named |= {
        name
        for block in blocks("sh")
        for name in re.findall(r"^make ([a-z]+)", block, re.MULTILINE)
    }

    assert named
    assert named <= targets
