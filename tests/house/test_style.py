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
from mnestic.memory.access import errors as access_errors
from mnestic.memory.models import errors as model_errors

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter", "benchmarks")
MODULES = [
    ROOT / "worker.py",
    *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")),
]
ERROR_MODULES = {"memory/errors.py", "memory/access/errors.py", "memory/models/errors.py"}
MOST_LINES = 600
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


@pytest.fixture(scope="module")
def modules() -> dict[str, list[ast.AST]]:
    """What each module of the rooms holds, its nodes as `ast.walk` gives them, the module first."""
    return {name_of(path): nodes_of(path) for path in MODULES}


def nodes_of(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def decorators(nodes: list[ast.AST]) -> Iterator[tuple[int, str, set[str | None]]]:
    """Line, name and keywords of each `@workflow.defn` and its like in a module."""
    for node in nodes:
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


def test_a_module_says_what_it_is(modules: dict[str, list[ast.AST]]) -> None:
    silent = [name for name, nodes in modules.items() if not docstring_of(nodes[0])]

    assert silent == []


def docstring_of(module: ast.AST) -> str | None:
    assert isinstance(module, ast.Module)
    return ast.get_docstring(module)


def test_a_module_is_short() -> None:
    modules = (*MODULES, *(ROOT / "tests").rglob("*.py"))

    lines = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in modules}

    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_a_folder_holds_few_modules() -> None:
    tests = (ROOT / "tests").rglob("*.py")

    folders = Counter(
        name_of(path.parent) for path in (*MODULES, *tests) if path.parent.name != "versions"
    )

    assert {folder: size for folder, size in folders.items() if size > MOST_MODULES} == {}


def test_a_module_has_a_name_that_says_something() -> None:
    words = {
        name_of(path): {
            word
            for part in path.relative_to(ROOT).with_suffix("").parts
            for word in part.split("_")
        }
        for path in MODULES
    }

    assert [name for name, found in words.items() if found & VAGUE] == []


def test_a_package_holds_its_docstring_alone(modules: dict[str, list[ast.AST]]) -> None:
    packages = {
        name: nodes[0] for name, nodes in modules.items() if Path(name).name == "__init__.py"
    }

    more = [
        name
        for name, package in packages.items()
        if not (
            isinstance(package, ast.Module)
            and len(package.body) == 1
            and isinstance(package.body[0], ast.Expr)
        )
    ]

    assert len(packages) >= 20
    assert more == []


def test_what_temporal_calls_is_named_explicitly(modules: dict[str, list[ast.AST]]) -> None:
    called = {
        *("workflow.defn", "activity.defn"),
        *("workflow.signal", "workflow.update", "workflow.query"),
    }
    defined = [
        (name, line, decorator, "name" in keywords)
        for name, nodes in modules.items()
        for line, decorator, keywords in decorators(nodes)
        if decorator in called
    ]

    assert {"workflow.defn", "activity.defn"} <= {decorator for _, _, decorator, _ in defined}
    assert [found for found in defined if not found[-1]] == []


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    classes = {
        name: value
        for name, value in (vars(errors) | vars(model_errors) | vars(access_errors)).items()
        if isinstance(value, type) and issubclass(value, errors.MnesticError)
    }

    drawn = tree_in_the_docstring()

    assert drawn == {
        name: None if value is errors.MnesticError else value.__base__.__name__
        for name, value in classes.items()
    }


def test_errors_are_all_in_the_tree(modules: dict[str, list[ast.AST]]) -> None:
    elsewhere = [
        (name, node.name)
        for name, nodes in modules.items()
        if name not in ERROR_MODULES
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    ]

    assert elsewhere == []


def test_a_workflow_brings_no_driver_client_or_setting_along() -> None:
    code = "import json, sys; import mnestic.workflows.plugin; print(json.dumps([*sys.modules]))"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )

    loaded = json.loads(done.stdout)
    assert "mnestic.workflows.jobs.agent_memory" in loaded
    ours = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("mnestic.")}
    assert ours == {"mnestic.memory", "mnestic.activities", "mnestic.workflows"}
    assert DRIVERS & {name.split(".")[0] for name in loaded} == set()
    assert not [name for name in loaded if name.startswith("mnestic.activities.clients")]


def test_tests_are_no_packages() -> None:
    found = [name_of(path) for path in (ROOT / "tests").rglob("__init__.py")]

    assert found == []


def test_tests_are_sentences_that_mock_nothing() -> None:
    faults = {
        name_of(path): found
        for path in (ROOT / "tests").rglob("test_*.py")
        if (found := faults_of(nodes_of(path)))
    }

    assert faults == {}


def faults_of(nodes: list[ast.AST]) -> list[str]:
    """What is amiss in a module of tests: none in it, names that are no sentences, what mocks."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [
        node.name for node in nodes if isinstance(node, functions) and node.name.startswith("test_")
    ]
    imported = [
        name
        for node in nodes
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    return [
        *([] if names else ["no test"]),
        *(name for name in names if name.count("_") < 3),
        *(name for name in imported if "mock" in name),
    ]


def test_no_engine_puts_values_of_statements_into_its_errors(
    modules: dict[str, list[ast.AST]],
) -> None:
    engines = [
        (name, {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords})
        for name, nodes in modules.items()
        for call in nodes
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("create_engine", "create_async_engine"))
    ]

    assert engines
    assert [path for path, options in engines if options.get("hide_parameters") != "True"] == []
