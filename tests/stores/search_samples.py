"""Searches that tests of their sources share."""

from typing import Any

from mnestic.memory.retrieval import RetrievalQuery
from mnestic.memory.search import Search, Vocabulary
from tests.stores.entry_samples import NOON


def search(**given: Any) -> Search:
    """A search that asks for nothing but what is given."""
    nothing: dict[str, Any] = {
        "query": RetrievalQuery(text="anything"),
        "vocabulary": Vocabulary(),
        "called": Vocabulary(),
        "names": frozenset(),
        "believed": frozenset(),
        "tags": frozenset(),
        "predicates": {},
        "respects": frozenset(),
        "period": None,
        "pool": 10,
        "now": NOON,
        "knowledge": 0,
    }
    return Search(**(nothing | given))
