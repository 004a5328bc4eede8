"""Searches that tests of the search store share."""

from collections.abc import Collection
from typing import Any

from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.queries import PRESETS, RetrievalQuery
from mnestic.memory.retrieval.query_parsing import QueryWord, Terms
from mnestic.memory.retrieval.search import ParsedQuery, ResolvedTerms, Vocabulary
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


def terms_of(*words: str, keys: Collection[str] = ()) -> Terms:
    """Words and names as a question has them."""
    given = [QueryWord(word, may_name=False) for word in words]
    names = [QueryWord(key, may_name=True) for key in keys]
    return Terms(asked_at=NOON, words=(*given, *names))


async def resolve(
    transaction: Transaction, *words: str, keys: Collection[str] = ()
) -> ResolvedTerms:
    """What the agent's memory knows of words and names."""
    return await transaction.search.resolve(terms_of(*words, keys=keys), model="")


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
