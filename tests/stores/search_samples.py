"""Searches that tests of the search store share."""

from collections.abc import Collection
from typing import Any

from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.queries import PRESETS, RetrievalQuery
from mnestic.memory.retrieval.search import ResolvedTerms, Search, Terms, Vocabulary
from mnestic.memory.retrieval.vocabulary import unknown_lexemes, vocabulary_of
from tests.stores.entry_samples import NOON


def search(**given: Any) -> Search:
    """A search that asks for nothing but what is given."""
    nothing: dict[str, Any] = {
        "query": RetrievalQuery(text="anything"),
        "vocabulary": Vocabulary(),
        "name_vocabulary": Vocabulary(),
        "names": frozenset(),
        "tags": frozenset(),
        "period": None,
        "policy": PRESETS["mnestic"],
        "now": NOON,
    }
    return Search(**(nothing | given))


async def resolve(
    transaction: Transaction, *words: str, keys: Collection[str] = (), **asked: Any
) -> ResolvedTerms:
    """What the agent's memory knows of words and names."""
    terms = Terms(keys=frozenset(keys), words=frozenset(words), **({"model": ""} | asked))
    return await transaction.search.resolve(terms)


async def read_words(
    transaction: Transaction, *words: str, slips: Collection[str] = (), quiet: Collection[str] = ()
) -> Vocabulary:
    """Words of a question as they are stored, as reading the question makes them."""
    known = await resolve(transaction, *words)
    unknown = unknown_lexemes(words, known, slips=slips, quiet=quiet)
    suggested = await transaction.search.suggest((), unknown)
    return vocabulary_of(words, known, slips=slips, quiet=quiet, suggested=suggested)
