"""One way to write SQL: statements are in the files of `sql/`, each with what it is for; Python names and runs them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnestic.stores.postgres import queries

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter")
SQL = Path(queries.__file__).parent / "sql"
FILES = sorted(SQL.rglob("*.sql"))
STORES = "stores/postgres"
OTHERWISE = (f"{STORES}/migrations/",)
COMPOSING = {
    f"{STORES}/forgetting/redaction_scan.py": "one scan serves all tables",
    f"{STORES}/index_sessions.py": "indexes are dropped by name",
    f"{STORES}/jobs/documents.py": "a search has a filter of any conditions",
    f"{STORES}/jobs/record_filters.py": "a filter has any conditions, on any fields",
    f"{STORES}/jobs/record_indexes.py": "each field of a schema has an index of its own",
    f"{STORES}/jobs/remote_records.py": "the table has a prefix of the contract's",
    f"{STORES}/maintenance/backup_creation.py": "all tables are counted",
    f"{STORES}/maintenance/backup_restore.py": "all tables are locked, emptied and filled",
    f"{STORES}/maintenance/backup_tables.py": "all tables are copied",
    f"{STORES}/maintenance/scratch_database.py": "the database has a name of its own",
    f"{STORES}/maintenance/vacuum.py": "each table is vacuumed, and each index rebuilt",
    f"{STORES}/retrieval/vector_indexes.py": "each memory has an index of its own",
    f"{STORES}/rights.py": "each table has rights and a policy",
}
"""Modules whose statements name what a parameter cannot name, and why; `psycopg.sql` puts them together."""
ADVICE = {
    "starter/health/postgres.py": "a person is told which right to grant",
}
"""Modules that say a statement to somebody, and run none."""

STATEMENT = re.compile(
    r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|MERGE|TRUNCATE|LOCK|SET|CREATE|ALTER|DROP|COMMENT ON|GRANT|REVOKE"
    r"|COPY|VACUUM|ANALYZE|REINDEX|DO)(?:\s[^a-z]*[a-z0-9{$%(*:]|\s+\Z)"
)
BEGINS = re.compile(r"^(?:-- name: \w+\n)?-- \w.+$", re.MULTILINE)


def product() -> Iterator[tuple[str, ast.Module]]:
    paths = [ROOT / "worker.py", *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
    for path in sorted(paths):
        name = str(path.relative_to(ROOT))
        if not name.startswith(OTHERWISE):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return dict(product())


def statements_of(module: ast.Module) -> Iterator[str]:
    """The texts that read like statements, but for those that `psycopg.sql` gets and for docstrings."""
    passed = {
        argument
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "sql.SQL"
        for argument in node.args
    } | {node.value for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node not in passed and STATEMENT.match(node.value):
            yield node.value


def imports_of(module: ast.Module) -> set[str]:
    return {
        f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def test_a_statement_is_distinguished_from_other_texts() -> None:
    def found(text: str) -> bool:
        return bool([*statements_of(ast.parse(text))])

    inline = ("SELECT 1", "\nWITH a AS (SELECT)", "UPDATE mnestic.entry SET", "DROP TABLE t")
    others = ("SELECT", "SELECT INSERT UPDATE", "Select a plan", "DOCUMENT one", "WITH BYPASSRLS")

    assert [text for text in inline if not found(f"x = {text!r}")] == []
    assert [text for text in others if found(f"x = {text!r}")] == []
    assert found("x = f'SELECT {name} FROM t'")
    assert not found("x = sql.SQL('SELECT {} FROM t')")
    assert not found("'SELECT what is above.'")


def test_no_statement_stands_in_python(modules: dict[str, ast.Module]) -> None:
    inline = {
        name: found
        for name, module in modules.items()
        if (found := [*statements_of(module)]) and name not in ADVICE
    }

    assert f"{STORES}/memory.py" in modules
    assert inline == {}


def test_only_what_a_parameter_cannot_name_is_put_together(modules: dict[str, ast.Module]) -> None:
    composing = {name for name, module in modules.items() if "psycopg.sql" in imports_of(module)}

    assert composing == COMPOSING.keys()


def test_sqlalchemy_declares_tables_and_migrates_them(modules: dict[str, ast.Module]) -> None:
    importing = {
        name
        for name, module in modules.items()
        if any(one.startswith(("sqlalchemy", "sqlmodel")) for one in imports_of(module))
    }

    assert {name for name in importing if not name.endswith("tables.py")} == {
        f"{STORES}/migration.py"
    }


def test_each_statement_says_what_it_is_for() -> None:
    parts = [
        (path.name, part)
        for path in FILES
        for part in re.split(r"\n(?=-- name: )", path.read_text(encoding="utf-8"))
    ]

    assert len({path.name for path in FILES}) == len(FILES)
    assert [part for part in parts if not BEGINS.match(part[1])] == []


def test_each_statement_is_read_somewhere() -> None:
    written = {
        path.stem if not names else f"{path.stem}.{name}"
        for path in FILES
        for names in [re.findall(r"^-- name: (\w+)$", path.read_text("utf-8"), re.MULTILINE)]
        for name in names or [""]
    }
    rooms = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    read = {
        name
        for path in rooms
        for name in re.findall(r'read_query\(\s*"([\w.]+)"', path.read_text(encoding="utf-8"))
    } | {
        name
        for path in FILES
        for name in re.findall(r"-- include (\w+)$", path.read_text("utf-8"), re.MULTILINE)
    }

    assert written == read
