"""The rows of entries and the indexes that find them, written together: words, names and vectors.

Derived entries, which follow from facts and episodes, are written in the same way.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import Any

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.entry_features import features_of
from mnestic.memory.language.acronyms import find_acronyms
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.language.terms import first_terms
from mnestic.memory.long_texts import work_on
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.ports import Embedder, WordEmbedder
from mnestic.stores.postgres.knowledge.vectors import Vectors
from mnestic.stores.postgres.queries import packed, read_query
from mnestic.stores.postgres.reals import reals_of
from mnestic.stores.postgres.unit_of_work import Statements

_Tokens = Iterable[bytes | None]  # of each entry
log = logging.getLogger("mnestic.entries")
RELATED = "related"  # a term that is no name
# Not its keywords: most are words of the content, by which full text search finds it. Keywords of the index are acronyms, and
# words of the predicates that its facts have.
_TERMS = {"tag": "tags", "alias": "aliases", "subject": "subjects"}
_ADD, _CHANGE = read_query("add_entries"), read_query("entry_index.change")
_REMOVE = read_query("entry_index.remove")
_INDEX, _UNINDEX = read_query("index_entries"), read_query("unindex_entries")
_ADD_TERMS = read_query("entry_index.add_terms")
_REMOVE_TERMS = read_query("entry_index.remove_terms")


class EntryIndex:
    """Writes entries with all that finds them."""

    def __init__(self, unit: Statements, embedder: Embedder | None = None) -> None:
        """Prepares it; an embedder that needs no server gives entries their vectors as they are written."""
        self._unit, self._embedder = unit, embedder
        self.vectors = Vectors(unit)

    async def add(self, entries: Sequence[Entry]) -> Sequence[Any]:
        """Adds entries; returns a row of each that is new, as `add_entries.sql` does."""
        vectors, tokens = await self._embedded(entries)  # before anything is locked

        def pack() -> dict[str, str]:
            rows = [{**row, "place": place} for place, row in enumerate(_rows(entries, tokens), 1)]
            terms = [
                {"id": entry_id, "kind": kind, "term": term}
                for entry_id, kind, term in _terms(entries)
            ]
            return {
                **packed({}, rows, what="entries", name="entries"),
                **packed({}, terms, what="names of entries", name="terms"),
            }

        asked = {
            **await work_on(_contents(entries), pack),
            "language": LANGUAGE,
            "model": self._embedder.name if self._embedder else "",
            **reals_of(vectors),
        }
        return await self._unit.fetch(_ADD, **asked)

    async def change(self, entries: Sequence[Entry], before: Mapping[str, Any]) -> None:
        """Writes entries anew; `before` are their rows, which are locked, by id."""
        numbers = {entry_id: row.number for entry_id, row in before.items()}
        languages = {entry_id: row.language for entry_id, row in before.items()}
        same = [entry for entry in entries if entry.content == before[entry.id].content]
        rows = await self._packed(same, languages, repeat(None))
        await self._unit.write(_CHANGE, **rows, rewritten=None)
        anew = [entry for entry in entries if entry.content != before[entry.id].content]
        stale = [numbers[entry.id] for entry in anew]
        if stale:  # else full text search and vectors are true as they are
            vectors, tokens = await self._embedded(anew)
            await self._unindex(stale)
            await self.vectors.forget(stale)
            rows = await self._packed(anew, languages, tokens)
            await self._unit.write(_CHANGE, **rows, rewritten=True)
            await self._unit.write(_INDEX, numbers=sorted(stale))
            if vectors and self._embedder is not None:
                by_number = dict(zip(stale, vectors, strict=True))
                await self.vectors.keep(self._embedder.name, by_number)
        await self._unit.write(_REMOVE_TERMS, numbers=[*numbers.values()])
        await self._name(entries, numbers)

    async def enter(self, entries: Sequence[Entry], numbers: Mapping[str, int]) -> None:
        """Enters entries, whose rows and vectors are stored, into full text search and under their names."""
        await self._unit.write(_INDEX, numbers=sorted(numbers.values()))
        await self._name(entries, numbers)

    async def remove(self, numbers: Sequence[int]) -> None:
        """Removes entries from everywhere."""
        await self._unindex(numbers)
        await self.vectors.forget(numbers)
        await self._unit.write(_REMOVE_TERMS, numbers=[*numbers])
        await self._unit.write(_REMOVE, numbers=[*numbers])

    async def mend(self, numbers: Sequence[int]) -> None:
        """Enters entries that lack words into full text search again."""
        await self._unindex(numbers)
        await self._unit.write(_INDEX, numbers=sorted(numbers))

    async def _embedded(self, entries: Sequence[Entry]) -> tuple[tuple[bytes, ...], _Tokens]:
        """The vectors of entries, and the tokens of their first terms.

        None without an embedder, or if it fails: then `IngestMessages` asks for vectors, and questions for tokens.
        """
        embedder = self._embedder
        if embedder is None:
            return (), repeat(None)
        try:
            contents = list(_contents(entries))
            vectors = (await embedder.embed(contents)).vectors
            if not isinstance(embedder, WordEmbedder):
                return vectors, repeat(None)

            def tokenize() -> Sequence[bytes]:
                return embedder.tokenize([" ".join(first_terms(one)) for one in contents])

            return vectors, await work_on(contents, tokenize)
        except (ModelUnavailableError, ModelRefusedError):  # the entries are worth more
            log.exception("entries have no vectors yet", extra={"entries": len(entries)})
            return (), repeat(None)

    async def _unindex(self, numbers: Sequence[int]) -> None:
        """Takes the contents of entries, as they are stored, out of full text search."""
        await self._unit.write(_UNINDEX, numbers=sorted(numbers))

    async def _name(self, entries: Sequence[Entry], numbers: Mapping[str, int]) -> None:
        """Enters entries under the names that they are found by."""
        rows = [
            {"kind": kind, "term": term, "entry_number": numbers[entry_id]}
            for entry_id, kind, term in await work_on(_contents(entries), partial(_terms, entries))
        ]
        await self._unit.write(_ADD_TERMS, **packed({}, rows, what="names of entries"))

    async def _packed(
        self, entries: Sequence[Entry], languages: Mapping[str, str], tokens: _Tokens
    ) -> dict[str, str]:

        def pack() -> dict[str, str]:
            rows = [{**row, "language": languages[row["id"]]} for row in _rows(entries, tokens)]
            return packed({}, rows, what="entries")

        return await work_on(_contents(entries), pack)


def _contents(entries: Sequence[Entry]) -> Iterator[str]:
    return (entry.content for entry in entries)


def _rows(entries: Sequence[Entry], tokens: _Tokens) -> Iterator[dict[str, Any]]:
    """The columns of entries, without their language and what the database sets."""
    for entry, its in zip(entries, tokens, strict=False):  # what has none for any ends nowhere
        columns = entry.model_dump(exclude={"created_at", "updated_at"})
        columns["tokens"] = None if its is None else f"\\x{its.hex()}"  # as Postgres reads it
        yield {**columns, "features": features_of(entry.content, entry.times)}


def _terms(entries: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """The names that entries are found by: entry, kind and term, each once and in the order of the index."""
    named = {
        (entry.id, kind, name_key(name))
        for entry in entries
        for kind, column in _TERMS.items()
        for name in getattr(entry, column)
    }
    acronyms = {
        (entry.id, "keyword", one.key) for entry in entries for one in find_acronyms(entry.content)
    }
    learned = {(entry.id, "keyword", word) for entry in entries for word in _learned_words(entry)}
    related = {(entry.id, RELATED, name) for entry in entries for name in entry.related}
    replaced = {(entry.id, why, name) for entry in entries for name, why in entry.replaces}
    return sorted(named | acronyms | learned | related | replaced, key=itemgetter(1, 2, 0))


def _learned_words(entry: Entry) -> Iterator[str]:
    """The keywords of an entry that its content does not have."""
    content = entry.content.casefold()
    return (word for word in map(str.casefold, entry.keywords) if word not in content)
