"""The pages say what is true: sizes, links, make targets, plans and Python that compiles.

`test_reference.py` compares the reference with the code; `acceptance/test_examples.py` runs the quick start and the
examples.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnestic.memory.jobs.plans import Plan
from mnestic.starter.contract.documents import parse_contract
from mnestic.starter.jobs.plans import parse_plan, read_plan

ROOT = Path(__file__).parents[2]
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
)
SIZES = {
    "README.md": 10 * 1024,
    "ARCHITECTURE.md": 12 * 1024,
    "docs/benchmarks.md": 8 * 1024,
    "docs/contract.md": 12 * 1024,
    "docs/retrieval.md": 6 * 1024,
    "docs/retrieval-quality.md": 8 * 1024,
}
ROOMS = "memory|activities|stores|workflows|starter|tests|benchmarks|docs|examples"
NODE_KINDS = ("think", "tool", "recall", "remember", "memory", "emit", "wait")


def name_of(path: object) -> str:
    return str(path.relative_to(ROOT)) if isinstance(path, Path) else str(path)


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                yield page, target


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize(("name", "limit"), SIZES.items())
def test_a_page_is_short(name: str, limit: int) -> None:
    assert (ROOT / name).stat().st_size <= limit


def test_each_guide_stands_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")

    guides = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in guides if f"({name})" not in index} == set()


def test_each_link_leads_somewhere() -> None:
    found = [*links()]

    assert found
    assert [link for link in found if not leads_somewhere(*link)] == []


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / path if path else page
    return there.exists() and (not anchor or anchor in headings(there))


def test_each_path_that_is_named_is_there() -> None:
    named = {
        (name_of(page), path)
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for path in paths_named(page)
        if "000N" not in path
    }

    assert named
    assert [(page, path) for page, path in sorted(named) if not (ROOT / path).exists()] == []


def paths_named(page: Path) -> Iterator[str]:
    yield from re.findall(rf"`((?:{ROOMS})/[\w./-]*)", page.read_text(encoding="utf-8"))
    for block in blocks(page, "sh"):
        yield from re.findall(rf"(?:^|\s)((?:{ROOMS})/[\w./-]*)", block)


@pytest.mark.parametrize(
    ("page", "text"),
    [(page, text) for page in PAGES for text in blocks(page, "yaml")],
    ids=name_of,
)
def test_each_document_that_is_shown_is_sound(page: Path, text: str) -> None:
    if text.startswith("Memory:"):
        assert parse_contract(text, source=page.name)["Memory"]
    else:
        assert isinstance(parse_plan(text, source=page.name), Plan)


def test_the_example_plan_has_nodes_of_the_kinds_in_the_guide() -> None:
    guide = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")

    plan = read_plan(ROOT / "examples" / "order.yaml")

    assert {node.kind for node in plan.nodes} <= set(NODE_KINDS)
    assert all(f"| `{kind}` |" in guide for kind in NODE_KINDS)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (page, text)
        for page in PAGES
        if page.parent.name != "reference"
        for text in blocks(page, "python")
    ],
    ids=name_of,
)
def test_each_python_block_compiles(page: Path, text: str) -> None:
    body = "".join(f"    {line}\n" for line in text.splitlines())

    compile(f"async def block():\n{body}", page.name, "exec")


def test_the_make_targets_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))

    assert named
    assert named <= targets


@pytest.mark.parametrize(
    "target", ["pooler", "bench", "bench-ingest", "bench-retrieval", "bench-locomo"]
)
def test_the_programs_and_tests_that_a_make_target_runs_are_there(target: str) -> None:
    run = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True, text=True
    )

    named = re.findall(r"\b(?:tests|benchmarks)/\S+\.py\b", run.stdout)
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []
