"""The port `SearchStore` in Postgres: resolves terms, finds candidates and reads the best of them.

It reads what the stores of entries and facts write, and writes nothing. Its statements are in `sql/`.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic_core import from_json

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.extraction import ExtractionInput
from mnestic.memory.knowledge.predicate_sentences import predicate_stems
from mnestic.memory.retrieval.candidates import Candidates
from mnestic.memory.retrieval.queries import FULL_COSINE, StatedClaim
from mnestic.memory.retrieval.query_parsing import Terms
from mnestic.memory.retrieval.scoring import FULL_WORDS
from mnestic.memory.retrieval.search import (
    ArchivedWords,
    KnownName,
    LexemeMatch,
    ParsedQuery,
    ResolvedTerms,
    SearchHits,
    Suggestions,
    Vocabulary,
)
from mnestic.stores.postgres.knowledge.vectors import EF_SEARCH, INDEXED_FROM
from mnestic.stores.postgres.queries import Query, read_query
from mnestic.stores.postgres.retrieval.candidates import candidates_of
from mnestic.stores.postgres.retrieval.suggestions import nearest_terms, suggested
from mnestic.stores.postgres.retrieval.vector_indexes import VectorIndex
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_RESOLVE, _SUGGEST = read_query("resolve_terms"), read_query("suggest_terms")
_FIND, _READ = read_query("find_candidates"), read_query("fetch_hits")
_NEAREST = read_query("nearest_entries")
_COUNT_ARCHIVED, _FIND_ARCHIVED = read_query("archived_lexemes"), read_query("find_archived")
_VECTORS, _SETTINGS = read_query("search.find_vectors"), read_query("search.set_search")
_NEAREST_SETTINGS = read_query("search.set_nearest")
# What `sql/retrieval/stored_columns.sql` reads; a test holds both to each other.
STORED = tuple(name for name in Entry.model_fields if name not in ("id", "content", "session_id"))
_AUDITED = "entry.search"  # its target must not contain the words of a query
# Of what an entry says itself, for the choice of those whose neighbours are read.
_SEMANTIC, _LEXICAL = 0.4, 0.6
_PROPAGATED = {
    "neighbour": 0.4,
    "second_neighbour": 0.2,
    "related": 0.2,
}  # shares of it that others receive
_MIN_PROPAGATED_SHARE = 0.25  # of the strongest own score; an entry that receives less is not read
_SUCCESSOR = "successor"  # the kind of edges from a superseded entry, which propagates nothing


class PostgresSearchStore:
    """Implements `mnestic.memory.retrieval.ports.SearchStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit
        self._is_noted = False
        self._plans: str | None = None  # how they are made, if that is set

    async def resolve(self, terms: Terms, *, model: str) -> ResolvedTerms:
        """See the port."""
        self._unit.attempt(_AUDITED, "*")
        values = {
            **self._unit.owner,
            "keys": sorted({*terms.keys, *terms.tags}),
            "words": sorted(terms.word_forms),
            "acronyms": sorted({*terms.acronyms.values()}),
            "name_parts": sorted(terms.name_parts),
            "is_own": terms.is_own,
            "since": [period.start for period in terms.periods],
            "until": [period.end for period in terms.periods],
            "model": model,
        }
        *_, (row,) = await self._unit.rows_of(*self._settings(), _RESOLVE.bind(values))
        return _resolved(row, terms)

    def note_answer(self, mode: str, *, found: int, is_cached: bool = False) -> None:
        """See the port."""
        if not self._is_noted:
            self._unit.read(_AUDITED, f"{mode}: {found} {'cached' if is_cached else 'found'}")
            self._is_noted = True

    async def suggest(self, names: Collection[str], lexemes: Collection[str]) -> Suggestions:
        """See the port."""
        values = nearest_terms(names, lexemes)
        if values is None:
            return Suggestions()
        return suggested(await self._unit.fetch(_SUGGEST, **values), names)

    async def find_candidates(self, parsed: ParsedQuery) -> Candidates:
        """See the port."""
        values = {**self._unit.owner, **_sources(parsed), **_filters(parsed), **_weights(parsed)}
        settings = self._settings(is_planned_anew=values["is_filtered"])
        *_, rows = await self._unit.rows_of(*settings, _FIND.bind(values))
        pool = parsed.policy.pool
        return replace(
            candidates_of(rows, parsed),
            edges={
                row.number: [(number, kind) for number, kind in row.edges]
                for row in rows
                if row.edges and row.edges[0][1] != _SUCCESSOR
            },
            successors={
                row.number: [number for number, _ in row.edges]
                for row in rows
                if row.edges and row.edges[0][1] == _SUCCESSOR
            },
            # An index may bring fewer than there are.
            is_exhaustive=not values["is_indexed"]
            and sum(row.bits is not None for row in rows) < pool
            and sum(row.cosine is not None for row in rows) < pool,
        )

    async def count_archived(self, lexemes: Collection[str]) -> ArchivedWords:
        """See the port."""
        given = sorted(lexemes)
        (row,) = await self._unit.fetch(_COUNT_ARCHIVED, lexemes=given, any_lexeme=_any_of(given))
        return ArchivedWords(row.entries, row.counts or {})

    async def find_archived(self, parsed: ParsedQuery) -> Candidates:
        """See the port."""
        sources = _sources(parsed)
        values = {**sources, **_filters(parsed), **_weights(parsed)}
        any_lexeme = _any_of(sources["lexemes"])
        rows = await self._unit.fetch(_FIND_ARCHIVED, any_lexeme=any_lexeme, **values)
        return candidates_of(rows, parsed)

    async def list_nearest(
        self, entry_ids: Collection[str], *, limit: int
    ) -> dict[str, tuple[ExtractionInput, ...]]:
        """See the port. Vectors of a large memory are compared only if they have an index."""
        vectors = await self._unit.fetch(_VECTORS)
        size, model, index = 0, "", ""
        if vectors:
            ((model, size, dimensions),) = vectors
            index = VectorIndex(**self._unit.owner, model=model, dimensions=dimensions).name
        values = {
            **self._unit.owner,
            "ids": sorted(entry_ids),
            "model": model,
            "is_indexed": size >= INDEXED_FROM,
            "index": f"mnestic.{index}",
            "most": limit,
        }
        *_, rows = await self._unit.rows_of(_NEAREST_SETTINGS.bind({}), _NEAREST.bind(values))
        found: defaultdict[str, list[ExtractionInput]] = defaultdict(list)
        for row in rows:
            found[row.id].append(ExtractionInput.model_validate(row, from_attributes=True))
        return {entry_id: tuple(turns) for entry_id, turns in found.items()}

    async def fetch_hits(self, numbers: Sequence[int], parsed: ParsedQuery) -> SearchHits:
        """See the port."""
        lexemes = {
            lexeme
            for one in parsed.vocabulary.query_lexemes
            if one.is_known and not one.is_name
            for lexeme in one.lexemes
        }
        values = {"numbers": list(numbers), "query_lexemes": sorted(lexemes)}
        self._unit.end_with_next()
        self._plans = None  # whatever follows is another transaction
        rows = await self._unit.fetch(_READ, **_superseding(parsed), **values)
        entries: dict[int, Entry] = {}
        stated: dict[int, tuple[StatedClaim, ...]] = {}
        outdated: dict[int, list[int]] = {}
        for row in rows:
            claims = from_json(row.claims or "[]")
            asked = [
                c for c in claims if c["is_asked"] or lexemes & predicate_stems(c["predicate"])
            ]
            if asked and not (row.holds or any(one["holds"] for one in asked)):
                outdated[row.number] = [one["successor"] for one in asked if one["successor"]]
                continue
            entries[row.number] = _entry(row)
            if claims:
                stated[row.number] = tuple(map(StatedClaim.model_validate, claims))
        return SearchHits(entries=entries, claims=stated, outdated=outdated)

    def _settings(self, *, is_planned_anew: bool = False) -> list[Query]:
        """The settings of a search's transaction, unless they are set. If a model is called in between, there are two."""
        plans = "force_custom_plan" if is_planned_anew else "force_generic_plan"
        if plans == self._plans:
            return []
        self._plans = plans
        return [_SETTINGS.bind({"plans": plans, "ef_search": EF_SEARCH})]


def _resolved(row: Any, terms: Terms) -> ResolvedTerms:
    """The terms out of the row of `resolve_terms.sql`."""
    keys: defaultdict[str, set[str]] = defaultdict(set)
    aliases: defaultdict[str, set[str]] = defaultdict(set)
    speaks = set()
    for term, key, is_by_alias, speakers in row.names or ():
        if term not in terms.keys:
            continue
        (aliases if is_by_alias else keys)[term].add(name_key(key))
        keys[term].add(term)
        if term in map(name_key, speakers):
            speaks.add(term)
    for alias, named in aliases.items():
        if len(named) == 1:  # an alias of several people names none of them
            keys[alias] |= named
    for part, name in _full_names(row.name_parts or ()).items():
        keys[part] |= {part, name}
        speaks.add(part)
    words: defaultdict[str, defaultdict[int, dict[str, LexemeMatch]]]
    words = defaultdict(lambda: defaultdict(dict))
    for word, part, language, lexeme, entries in row.words or ():
        words[word][part][language] = LexemeMatch(lexeme, entries)
    return ResolvedTerms(
        names={
            term: KnownName(keys=frozenset(found), is_speaker=term in speaks)
            for term, found in keys.items()
        },
        words={word: [*parts.values()] for word, parts in words.items()},
        acronyms={
            word: LexemeMatch(key, row.acronyms[key])
            for word, key in terms.acronyms.items()
            if key in (row.acronyms or {})
        },
        tags=terms.tags.intersection(row.tags or ()),
        period=None if row.period is None else terms.periods[row.period - 1],
        settings=row.settings or {},
        languages=row.languages or (),
        entries=row.entries or 0,
        lexemes=row.lexemes or 0,
        model=row.active_model,
        vectors=row.vectors or 0,
        has_archive=row.has_archive,
        speakers=frozenset(row.speakers or ()),
        now=row.now,
        knowledge=row.knowledge,
        ends_at=row.ends_at,
        database=row.database,
    )


def _full_names(parts: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The full name that each part of one stands for; a part of several speakers' names stands for none of them."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for part, name, speakers in parts:
        if name in map(name_key, speakers or ()):
            found[part].add(name)
    return {part: name for part, (name, *others) in found.items() if not others}


def _sources(parsed: ParsedQuery) -> dict[str, Any]:
    """The parameters of each source; sources that are not needed get empty arrays."""
    by_meaning = parsed.query.mode == "semantic"
    searched = Vocabulary() if by_meaning else parsed.vocabulary
    words = _postings(searched)
    keywords = [*_postings(searched, are_acronyms=True), *words]
    name_words = _postings(parsed.name_vocabulary)
    asks_more = any(one.is_known for one in parsed.vocabulary.query_lexemes)
    names = () if asks_more else sorted(parsed.names)
    terms = [(kind, name) for kind in ("subject", "alias") for name in names]
    terms += [(kind, tag) for kind in ("tag", "alias") for tag in sorted(parsed.tags)]
    period = parsed.source_period
    return {
        "lexemes": [lexeme for lexeme, *_ in words],
        "lexeme_weights": [weight for _, weight, _ in words],
        "lexeme_bits": [bit for *_, bit in words],
        "keywords": [key for key, *_ in keywords],
        "keyword_weights": [weight for _, weight, _ in keywords],
        "keyword_bits": [bit for *_, bit in keywords],
        "name_lexemes": [lexeme for lexeme, *_ in name_words],
        "name_lexeme_weights": [weight for _, weight, _ in name_words],
        "average_length": parsed.vocabulary.average_length,
        "model": parsed.model,
        "vector": _literal(parsed.vector),
        "is_indexed": parsed.known.vectors >= INDEXED_FROM and parsed.policy.pool <= EF_SEARCH,
        "kinds": [kind for kind, _ in terms],
        "terms": [term for _, term in terms],
        "period_start": None if period is None else period.start,
        "period_end": None if period is None else period.end,
    }


def _filters(parsed: ParsedQuery) -> dict[str, Any]:
    """The parameters of the filters."""
    query = parsed.query
    return {
        **_superseding(parsed),
        "is_filtered": parsed.is_strict or query.is_filtered,
        "statuses": list(query.statuses),
        "includes_superseded": query.statuses == ("archived",),
        "includes_expired": "archived" in query.statuses and query.as_of is None,
        "entry_kinds": list(query.kinds) or None,
        "types": list(query.entry_types) or None,
        "session_id": query.session_id,
        "channel": query.channel,
        "speaker": query.speaker,
        "since": query.since,
        "until": query.until,
        "tags": [name_key(tag) for tag in query.tags] or None,
        "subject": None if query.subject is None else name_key(query.subject),
        "categories": list(query.categories) or None,
    }


def _superseding(parsed: ParsedQuery) -> dict[str, Any]:
    """When what entries say has to be so, and whether superseded ones are left out."""
    return {
        "as_of": parsed.query.as_of,
        "current_at": parsed.current_at,
        "excludes_superseded": parsed.excludes_superseded,
    }


def _weights(parsed: ParsedQuery) -> dict[str, Any]:
    """The weights, for the choice of the entries whose neighbours are read."""
    policy = parsed.policy
    return {
        "pool": policy.pool,
        "propagation_seeds": policy.propagation_seeds,
        "semantic": _SEMANTIC * (parsed.query.mode != "text"),
        "lexical": _LEXICAL,
        "min_cosine": policy.min_cosine,
        "cosine_range": FULL_COSINE - policy.min_cosine,
        "full_score": max(1e-9, sum(parsed.vocabulary.weights) * FULL_WORDS),
        "is_by_words": parsed.is_by_words,
        **_PROPAGATED,
        "min_propagated_share": _min_propagated_share(parsed),
    }


def _min_propagated_share(parsed: ParsedQuery) -> float:
    """The propagation floor: the share of the strongest own score that an entry has to receive to be read.

    It is 0 without a minimum score, and with a reranker, which may find that a weak entry answers.
    """
    query, policy = parsed.query, parsed.policy
    min_score = policy.min_score if query.min_score is None else query.min_score
    is_read_again = (query.rerank or policy.rerank) != "off"
    return 0.0 if is_read_again or not min_score else _MIN_PROPAGATED_SHARE


def _postings(
    vocabulary: Vocabulary, *, are_acronyms: bool = False
) -> list[tuple[str, float, int]]:
    """The known lexemes of words, or of acronyms, with the weight and the bit of each."""
    return [
        (lexeme, one.weight, 1 << place)
        for place, one in enumerate(vocabulary.query_lexemes)
        if one.is_known and one.is_acronym == are_acronyms
        for lexeme in one.lexemes
    ]


def _any_of(lexemes: Sequence[str]) -> str:
    """A query of full text search for any of some lexemes, quoted."""
    quoted = (one.replace("\\", "\\\\").replace("'", "''") for one in lexemes)
    return " | ".join(f"'{one}'" for one in quoted)


def _literal(vector: bytes | None) -> str | None:
    """A vector, float32, as a literal of pgvector."""
    if vector is None:
        return None
    return "[" + ",".join(f"{number:.6g}" for number in np.frombuffer(vector, "<f4").tolist()) + "]"


def _entry(row: Any) -> Entry:
    """An entry out of a row of `fetch_hits.sql`.

    Raises:
        StoredValueError: the row was written by something else and is no entry.
    """
    columns = dict(zip(STORED, from_json(row.stored), strict=True))
    columns |= {"id": row.id, "session_id": row.session_id, "content": row.content}
    columns["summary"] = columns["summary"] or row.content
    return read_stored(Entry, columns, what=f"entry {row.id}")
