"""Words of a language are data: no module holds a list of them, which stands in YAML beside it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "activities", "stores", "workflows", "starter")
MODULES = [
    path
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.parent.name != "versions"  # a migration that has landed is never edited
]
MOST_WORDS = 12  # of a collection, a text or the alternatives of a pattern
WORD = re.compile(r"[^\W\d_A-Z][^\W\d_]*(?:['\u2019 -][^\W\d_]+)*")
SYNTAX = re.compile(r"\\.|\(\?P[<=]\w+[>)]")  # letters of a pattern that match no such letter

# Collections of words that are no words of a language, by module and first word, and what they are.
ALLOWED = {
    ("memory/jobs/memory_operations.py", "summarize"): "names of operations",
    ("stores/postgres/forgetting/redaction_scan.py", "operation"): "names of tables",
    ("activities/clients/english/values.py", "compound"): "labels of parses",
    ("memory/forgetting/redaction.py", "entry"): "columns of the database",
    ("memory/forgetting/redaction.py", "operation"): "columns of the database",
    ("memory/jobs/forms/form_examples.py", "object"): "keywords of JSON Schema",
    ("memory/language/date_words.py", "iso"): "kinds of dates",
    ("memory/language/dates.py", "iso"): "kinds of dates",
    ("memory/maintenance/reports.py", "merged"): "names of counts, and what they mean",
    ("memory/maintenance/samples.py", "agents"): "names of time series, and what they mean",
    ("starter/cli/app.py", "up"): "names of commands",
    ("starter/cli/job.py", "start"): "names of commands",
    ("starter/cli/jobs/lines.py", "started"): "states of jobs, as the command line shows them",
    ("starter/cli/knowledge/world.py", "fact"): "headings of tables",
    ("starter/cli/memory.py", "ingest"): "names of commands",
    ("stores/postgres/rights.py", "category"): "tables of the database",
}


def word_lists(source: str) -> Iterator[tuple[str, int]]:
    """The first word and the size of each list of words in a module: a collection, a text of words, or a pattern."""
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            continue  # a type
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        words = [word for word in words_of(node) if WORD.fullmatch(word)]
        if len(words) > MOST_WORDS:
            yield words[0], len(words)
        else:
            todo += ast.iter_child_nodes(node)


def words_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            yield from texts_of(node)
        case ast.Dict(keys=keys, values=values):
            for one in (*filter(None, keys), *values):
                yield from texts_of(one)
        case ast.Constant(value=str(text)):
            yield from words_of_text(text)
        case ast.JoinedStr(values=parts):
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            yield from words_of_text("|".join(map(str, texts)))


def texts_of(node: ast.AST) -> Iterator[str]:
    """The texts of a collection, and of those in it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from texts_of(item)
        case ast.Dict(keys=keys, values=values):
            for item in (*filter(None, keys), *values):
                yield from texts_of(item)
        case ast.Starred(value=value):
            yield from texts_of(value)


def words_of_text(text: str) -> Iterator[str]:
    """The words of a text of nothing but words, and of a pattern those that stand for each other."""
    words = text.split()
    if len(words) > MOST_WORDS and all(map(WORD.fullmatch, words)):
        yield from words
    elif text.count("|") >= MOST_WORDS:
        for part in SYNTAX.sub(" ", text).split("|"):
            found = [word for word in WORD.findall(part) if len(word) > 1]
            yield from found[:1]


def test_no_module_holds_a_list_of_words() -> None:
    found = {
        (str(path.relative_to(ROOT)), first): size
        for path in MODULES
        for first, size in word_lists(path.read_text("utf-8"))
    }

    assert {one: size for one, size in found.items() if one not in ALLOWED} == {}, (
        "Put words into YAML beside the module and read them with memory/language/word_lists.py. If these are no words of a"
        " language, add them to ALLOWED, and say what they are"
    )
    assert ALLOWED.keys() - found.keys() == set()


NAMES = ["ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jo", "kim", "leo", "max"]


@pytest.mark.parametrize(
    "source",
    [
        f"A = {NAMES}",
        f"A = frozenset({set(NAMES)})",
        f"A = {dict.fromkeys(NAMES, 1)}",
        f"A = {[NAMES[:6], *NAMES[6:]]}",
        f"A = (*{tuple(NAMES[:6])}, *{tuple(NAMES[6:])})",
        f"A = {' '.join(NAMES)!r}.split()",
        f"A = re.compile({'|'.join(NAMES)!r})",
        f"A = f'(?:{{B}}|{'|'.join(NAMES)})'",
        f"def f(a=frozenset({NAMES})): ...",
    ],
)
def test_a_list_of_words_is_found_however_it_is_written(source: str) -> None:
    assert [size for _, size in word_lists(source)] == [13]


@pytest.mark.parametrize(
    "source",
    [
        f"A = {NAMES[:12]}",
        f"A = Literal{NAMES}",
        f'"""{" ".join(NAMES)}"""',
        "A = 'SELECT a, b FROM c WHERE d AND e OR f AND g OR h AND i OR j'",
        "A = " + repr([f"{name}_id" for name in NAMES]),
        "A = r'a|b|c|d|e|f|g|h|i|j|k|l|m|n'",
    ],
)
def test_short_lists_types_docstrings_and_identifiers_are_no_lists_of_words(source: str) -> None:
    assert [*word_lists(source)] == []
