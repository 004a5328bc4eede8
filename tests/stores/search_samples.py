"""Searches that tests of the search store share."""

from collections.abc import Collection
from typing import Any

from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.queries import PRESETS, RetrievalQuery
from mnestic.memory.retrieval.search import ParsedQuery, ResolvedTerms, Terms, Vocabulary
from mnestic.memory.retrieval.vocabulary import unknown_lexemes, vocabulary_of
from tests.stores.entry_samples import NOON


def parsed_query(**given: Any) -> ParsedQuery:
    """A query that asks for nothing but what is given."""
    nothing: dict[str, Any] = {
        "query": RetrievalQuery(text="anything"),
        "asked_at": NOON,
        "known": ResolvedTerms(now=NOON),
        "policy": PRESETS["mnestic"],
    }
    return ParsedQuery(**(nothing | given))


async def resolve(
    transaction: Transaction, *words: str, keys: Collection[str] = (), **asked: Any
) -> ResolvedTerms:
    """What the agent's memory knows of words and names."""
    terms = Terms(keys=frozenset(keys), words=frozenset(words), **({"model": ""} | asked))
    return await transaction.search.resolve(terms)


async def read_words(
    transaction: Transaction,
    *words: str,
    misspellings: Collection[str] = (),
    stop_words: Collection[str] = (),
) -> Vocabulary:
    """Words of a question as they are stored, as reading the question makes them."""
    known = await resolve(transaction, *words)
    unknown = unknown_lexemes(words, known, misspellings=misspellings, stop_words=stop_words)
    suggested = await transaction.search.suggest((), unknown)
    return vocabulary_of(
        words, known, misspellings=misspellings, stop_words=stop_words, suggested=suggested
    )
