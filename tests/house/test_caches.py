"""Caches of the process: none is keyed by what people said, so that a word that was forgotten lives on nowhere."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter")
CACHES = {"cache", "lru_cache"}

# Each function with parameters whose results the process caches, and why no text of a person stays in it.
ALLOWED = {
    "activities/clients/english/lexicon.py": {"pattern": "our own patterns"},
    "activities/clients/messages/machine_text.py": {"_pattern": "our own patterns"},
    "memory/jobs/long_term/schemas.py": {
        "_checker": "structures of contracts, which the operator writes"
    },
    "memory/retrieval/agent_settings.py": {"_policy": "names of presets, and weights"},
    "memory/language/word_lists.py": {"read_word_lists": "our own words"},
    "stores/postgres/queries.py": {
        "_statements": "our own statements",
        "_filtered": "our own statements, with the filters that are wanted",
    },
    "memory/language/small_talk.py": {"_courtesies": "two patterns, once"},
    "memory/packing.py": {"_spoken": "single characters"},
}


def caches(source: str) -> Iterator[str]:
    """What lives as long as the process: functions that are cached at the top of a module or in a class."""
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if takes_anything(node) and any(map(names_cache, node.decorator_list)):
                yield node.name
            continue  # what is cached within a call ends with it
        if isinstance(node, ast.Call) and names_cache(node.func):
            yield ast.unparse(node)
        todo += ast.iter_child_nodes(node)


def takes_anything(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it has parameters; one without has a single result, which nobody's words lead to."""
    given = function.args
    return any((given.posonlyargs, given.args, given.vararg, given.kwonlyargs, given.kwarg))


def names_cache(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(function).split(".")[-1] in CACHES


@pytest.mark.parametrize("room", ROOMS)
def test_the_process_caches_nothing_that_people_said(room: str) -> None:
    found = {
        str(path.relative_to(ROOT)): set(caches(path.read_text(encoding="utf-8")))
        for path in (ROOT / room).rglob("*.py")
    }

    others = {
        path: names
        for path, cached in found.items()
        if (names := cached ^ ALLOWED.get(path, {}).keys())
    }

    assert not others, (
        f"{others} outlive a call. If their keys or values may be words of people, keep them in an object that lives as"
        " long as the call; else add them to ALLOWED, with the reason;"
        " and take out of it what is cached no more"
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("@cache\ndef f(text): ...", {"f"}),
        ("@functools.lru_cache(maxsize=10)\ndef f(text): ...", {"f"}),
        ("class A:\n    @lru_cache\n    def f(self): ...", {"f"}),
        ("@cache\ndef f(): ...", set()),
        ("f = lru_cache(10)(len)", {"lru_cache(10)(len)", "lru_cache(10)"}),
        ("def f(texts):\n    @cache\n    def g(text): ...", set()),
        ("@cached_property\ndef f(self): ...", set()),
    ],
)
def test_a_cache_of_the_process_is_found_however_it_is_made(source: str, found: set[str]) -> None:
    assert set(caches(source)) == found
