"""The gates of the house style that ruff, mypy and import-linter do not hold."""

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnestic.memory import errors
from mnestic.memory.models import errors as model_errors

ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter", "benchmarks")
MODULES = [
    ROOT / "worker.py",
    *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")),
]
MOST_LINES = 400
MOST_MODULES = 25  # of a folder
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc"}
DRIVERS = {
    "alembic",
    "httpx",
    "httpx2",
    "openai",
    "opentelemetry",
    "psycopg",
    "pydantic_settings",
    "requests",
    "rs_bpe",
    "safetensors",
    "sqlalchemy",
    "sqlmodel",
    "tokenizers",
    "wordllama",
    "yaml",
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def decorators(path: Path) -> Iterator[tuple[int, str, set[str | None]]]:
    """Line, name and keywords of each `@workflow.defn` and its like in a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for decorator in getattr(node, "decorator_list", []):
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            yield decorator.lineno, ast.unparse(call), {keyword.arg for keyword in keywords}


def tree_in_the_docstring() -> dict[str, str | None]:
    """Each error drawn in `memory/errors.py`, and the one it hangs from."""
    parents: dict[str, str | None] = {}
    branch: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        name = next((word for word in line.split() if word.endswith("Error")), None)
        if name is None or not line.startswith("    "):
            continue
        depth = line.index(name)
        branch = [(column, parent) for column, parent in branch if column < depth]
        parents[name] = branch[-1][1] if branch else None
        branch.append((depth, name))
    return parents


def test_the_rooms_are_where_they_are_looked_for() -> None:
    names = {name_of(path) for path in MODULES}

    assert {
        "worker.py",
        "memory/errors.py",
        "workflows/jobs/agent_job.py",
        "starter/client/mnestic_client.py",
    } <= names
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == {*ROOMS, "worker.py"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    docstring = ast.get_docstring(ast.parse(text))

    assert docstring
    assert len(text.splitlines()) <= MOST_LINES


def test_a_folder_holds_few_modules() -> None:
    tests = (ROOT / "tests").rglob("*.py")

    folders = Counter(
        name_of(path.parent) for path in (*MODULES, *tests) if path.parent.name != "versions"
    )

    assert {folder: size for folder, size in folders.items() if size > MOST_MODULES} == {}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_has_a_name_that_says_something(path: Path) -> None:
    words = {
        word for part in path.relative_to(ROOT).with_suffix("").parts for word in part.split("_")
    }

    assert not words & VAGUE


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of
)
def test_a_package_holds_its_docstring_alone(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body

    assert len(body) == 1
    assert isinstance(body[0], ast.Expr)


def test_workflows_and_activities_are_named_explicitly() -> None:
    defined = [
        (name_of(path), line, keywords)
        for path in MODULES
        for line, decorator, keywords in decorators(path)
        if decorator in {"workflow.defn", "activity.defn"}
    ]

    unnamed = [(path, line) for path, line, keywords in defined if "name" not in keywords]

    assert len(defined) >= 8
    assert unnamed == []


@pytest.mark.parametrize("decorator", ["workflow.signal", "workflow.update", "workflow.query"])
def test_handlers_are_named_explicitly(decorator: str) -> None:
    unnamed = [
        (name_of(path), line)
        for path in MODULES
        for line, found, keywords in decorators(path)
        if found == decorator and "name" not in keywords
    ]

    assert unnamed == []


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    classes = {
        name: value
        for name, value in (vars(errors) | vars(model_errors)).items()
        if isinstance(value, type) and issubclass(value, errors.MnesticError)
    }

    drawn = tree_in_the_docstring()

    assert drawn == {
        name: None if value is errors.MnesticError else value.__base__.__name__
        for name, value in classes.items()
    }


def test_errors_are_all_in_the_tree() -> None:
    elsewhere = [
        (name_of(path), node.name)
        for path in MODULES
        if name_of(path) not in {"memory/errors.py", "memory/models/errors.py"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    ]

    assert elsewhere == []


@pytest.mark.parametrize(
    "module", ["mnestic.workflows.plugin", "mnestic.workflows.jobs.agent_memory"]
)
def test_a_workflow_brings_no_driver_client_or_setting_along(module: str) -> None:
    code = f"import json, sys; import {module}; print(json.dumps(sorted(sys.modules)))"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )

    loaded = json.loads(done.stdout)
    ours = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("mnestic.")}
    assert ours == {"mnestic.memory", "mnestic.activities", "mnestic.workflows"}
    assert DRIVERS & {name.split(".")[0] for name in loaded} == set()
    assert not [name for name in loaded if name.startswith("mnestic.activities.clients")]


def test_tests_are_no_packages() -> None:
    found = [name_of(path) for path in (ROOT / "tests").rglob("__init__.py")]

    assert found == []


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("test_*.py")), ids=name_of)
def test_tests_are_sentences_that_mock_nothing(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("test_")
    ]
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert names
    assert [name for name in names if name.count("_") < 3] == []
    assert [name for name in imported if "mock" in name] == []


def test_no_engine_puts_values_of_statements_into_its_errors() -> None:
    engines = [
        (name_of(path), {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords})
        for path in MODULES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("create_engine", "create_async_engine"))
    ]

    assert len(engines) >= 2
    assert [path for path, options in engines if options.get("hide_parameters") != "True"] == []
