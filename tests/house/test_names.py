"""Names: each public class stands once in the rooms, and what a docstring names is there."""

import ast
import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
QUOTED = re.compile(r"`([A-Za-z_][\w.]*)`")
PATH = re.compile(rf"mnestic\.({'|'.join(ROOMS)})\.")
CLASS = re.compile(r"[A-Z][a-z]+[A-Z]\w*")


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """The modules of the rooms, by their paths."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES
    }


def test_a_public_class_stands_once(trees: dict[str, ast.Module]) -> None:
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)

    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_each_class_and_module_that_a_docstring_names_is_there(
    trees: dict[str, ast.Module],
) -> None:
    known = {name for tree in trees.values() for name in names_of(tree)}

    missing = [
        f"{path}: {name}"
        for path, tree in trees.items()
        for name in quoted_names(tree)
        if not (resolves(name) if PATH.match(name) else is_known(name, known))
    ]

    assert missing == []


def names_of(tree: ast.Module) -> set[str]:
    """The names that a module defines, imports or uses."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).rpartition(".")[2])
        elif isinstance(node, ast.Name):
            names.add(node.id)
    return names


def quoted_names(tree: ast.Module) -> list[str]:
    """The names in backquotes in the docstrings of a module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, documented)]
    return [name for node in nodes for name in QUOTED.findall(ast.get_docstring(node) or "")]


def is_known(name: str, known: set[str]) -> bool:
    """Whether the last part of a name, if it looks like that of a class, is one."""
    last = name.rpartition(".")[2]
    return CLASS.fullmatch(last) is None or last in known


def resolves(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = getattr(value, part, None)
        return value is not None
    return False
