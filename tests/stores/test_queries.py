"""What the files of `sql/` say beside Python: the same columns, and the same predicates that are names."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from mnestic.memory.knowledge.claims import Claim
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.stores.postgres import queries
from mnestic.stores.postgres.knowledge import tables as knowledge_tables
from mnestic.stores.postgres.retrieval.search import STORED

SQL = Path(queries.__file__).parent / "sql"
_COMMENT = re.compile(r"--.*")
_QUOTED = re.compile(r"'(\w+)'")


def statement(name: str) -> str:
    (path,) = SQL.rglob(f"{name}.sql")
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def test_a_filter_stands_only_where_its_value_is_given() -> None:
    query = queries.read_query("episodes.list")
    values = dict.fromkeys(query.parameters) | {"tenant_id": "t", "agent_id": "a", "limit": 5}

    all_text, all_values = query.bind(values)
    text, given = query.bind(values | {"of_job": "j"})

    assert ("job_id = $" in text, "job_id = $" in all_text) == (True, False)
    assert given == ["t", "a", "j", "5"]
    assert all_values == ["t", "a", "5"]


def test_stored_columns_are_read_in_the_order_of_their_names() -> None:
    columns = [column.strip() for column in statement("stored_columns").split(",")]

    assert columns == [f"e.{name}" for name in STORED]


@pytest.mark.parametrize(
    ("query", "value", "others"),
    [
        ("facts.get", Fact, ()),
        ("facts.add", Fact, ()),
        ("facts.update", Fact, ()),
        ("facts.list_claims", Claim, ()),
        ("facts.add_claims", Claim, ()),
        ("entries.select", Entry, ()),
        (
            "entry_index.change",
            Entry,
            ("kind", "access_count", "last_accessed", "created_at"),
        ),
    ],
)
def test_a_statement_has_each_field_of_a_value(
    query: str, value: type[BaseModel], others: tuple[str, ...]
) -> None:
    words = set(re.findall(r"\w+", queries.read_query(query).text))

    assert set(value.model_fields) - words == {*others}


@pytest.mark.parametrize("where", ["resolve_terms", "is_name", "index"])
def test_names_are_told_by_the_same_predicates_everywhere(where: str) -> None:
    if where == "index":
        (index,) = [
            one for one in knowledge_tables.FactRow.__table__.indexes if one.name == "fact_by_name"
        ]
        text = str(index.dialect_options["postgresql"]["where"])
    else:
        text = statement(where)
    (listed,) = re.findall(r"predicate IN \(([^)]*)\)", text)

    assert tuple(_QUOTED.findall(listed)) == NAMING
