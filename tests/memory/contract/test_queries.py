"""Queries of the graph read; what may write is found, and words that are no clauses are not."""

from mnestic.memory.contract.queries import writing_clauses
from tests.memory.tables import tables, wrong

CASES = tables(__file__)


def found(cypher: str) -> list[str]:
    return [*writing_clauses(cypher)]


def test_a_query_that_reads_has_no_clause_that_writes() -> None:
    assert wrong([[query, []] for query in CASES["reading"]], found) == []


def test_each_clause_that_writes_is_found() -> None:
    assert [(q, found(q)) for q, clauses in CASES["writing"] if {*found(q)} != {*clauses}] == []
