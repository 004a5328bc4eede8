"""Retrieval: answers a query out of an agent's memory, with entries of all sources in one ranking.

Every query comes through it: the client, a job's nodes, and what is put before a message.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

import numpy as np

from mnestic.activities.callers import Caller
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.late_interaction import late_interaction
from mnestic.activities.retrieval.passages import compare_passages
from mnestic.activities.retrieval.query_parser import QueryParser
from mnestic.activities.retrieval.query_vectors import embed_query
from mnestic.activities.retrieval.reranking import Rerankers, rerank_top
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.long_texts import work_on
from mnestic.memory.packing import key_of
from mnestic.memory.ports import Embedder, TokenCounter, Transaction, WordEmbedder
from mnestic.memory.retrieval.candidates import Candidates, CandidateText, Ranked
from mnestic.memory.retrieval.clauses import merge_answers, parse_clauses, split_clauses
from mnestic.memory.retrieval.exact_terms import set_identity
from mnestic.memory.retrieval.ports import SearchStore
from mnestic.memory.retrieval.queries import (
    Retrieval,
    RetrievalPolicy,
    RetrievalQuery,
    RetrievedEntry,
    StatedClaim,
)
from mnestic.memory.retrieval.query_parsing import Terms
from mnestic.memory.retrieval.ranking import above_threshold, archived_last, rank
from mnestic.memory.retrieval.search import ParsedQuery, SearchHits

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
Statement = tuple[str, frozenset[str], tuple[object, ...], str]
Fetch = Callable[[Sequence[int], ParsedQuery], Awaitable[SearchHits]]
_ANSWERS = 0.9  # the score from which the archive is not searched; below it, what is near a question hides its archived answer


async def retrieve(
    caller: Caller,
    query: RetrievalQuery,
    *,
    embedders: Embedders,
    rerankers: Rerankers = MappingProxyType({}),
    count_tokens: TokenCounter | None = None,
    policy: RetrievalPolicy | None = None,
) -> Retrieval:
    """The entries that answer a query, the best first; none if nothing is known, or nothing is asked for.

    Each clause of the text is searched for by itself. An entry is found as soon as it is written. If the embedder does not answer, the other sources do. Answers are cached
    by the revision of the agent's memory.

    Args:
        caller: Whose memory it is; what a reader of the query may not read is no candidate, and counts in no score.
        query: The query, with its filters.
        embedders: Of them, that of the agent's active vectors embeds the query.
        rerankers: The rerankers, for queries and policies that name one.
        count_tokens: Finds words that may be misspelt, since common words are a single token.
        policy: The weights; by default the agent's own.
    """
    if query.asks_for_nothing:
        return Retrieval()
    begin = caller.for_reader(query.reader)
    asked_at = query.asked_at or query.as_of or datetime.now(UTC)
    clauses = split_clauses(query.text)
    askers = (query.asker,) if query.asker else _readers_names(begin.reader)
    parser = QueryParser(embedders.chosen.name, count_tokens=count_tokens, policy=policy)
    answers = await asyncio.gather(
        *(
            _retrieve(
                begin,
                query.model_copy(update={"text": clause}) if clauses[1:] else query,
                terms=replace(terms, askers=tuple(map(name_key, askers))),
                parser=parser,
                embedders=embedders,
                rerankers=rerankers,
            )
            for clause, terms in zip(
                clauses, parse_clauses(clauses, asked_at=asked_at), strict=True
            )
        )
    )
    return merge_answers(clauses, answers, query=query)


def _readers_names(reader: str | None) -> tuple[str, ...]:
    """The names that a reader may speak by: its id, or the last part of it, as of `user.anna`."""
    return () if reader is None else (reader, reader.rpartition(".")[2])


async def _retrieve(
    begin: Begin,
    query: RetrievalQuery,
    *,
    terms: Terms,
    parser: QueryParser,
    embedders: Embedders,
    rerankers: Rerankers,
) -> Retrieval:
    """The answer to a query of one clause."""
    async with begin() as transaction:
        known = await transaction.search.resolve(terms, model=parser.model)
        embedder = embedders.active(known.model)
        words = embedder if isinstance(embedder, WordEmbedder) else None
        parser = replace(parser, model=embedder.name, words=words)
        scope, answers = transaction.cache_scope(known.database), transaction.caches.answers
        key, vectors = parser.cache_key(query, terms, known), transaction.caches.vectors
        if (cached := answers.get(scope, key, revision=known.knowledge)) is not None:
            answer = Retrieval.model_validate_json(cached)
            transaction.search.note_answer(query.mode, found=len(answer.results), is_cached=True)
            return answer
        parsed = await parser.parse(transaction.search, query, terms=terms, known=known)
        find = partial(_find_best, terms=terms, parser=parser, embedder=embedder)
        if embedder.model is None:  # a local embedder is fast, so the transaction stays open
            parsed, skipped = await embed_query(embedder, parsed, cache=vectors, scope=scope)
            best = await find(transaction, parsed)
            transaction.search.note_answer(query.mode, found=len(best.ranked))
    if embedder.model is not None:
        parsed, skipped = await embed_query(embedder, parsed, cache=vectors, scope=scope)
        async with begin() as transaction:
            best = await find(transaction, parsed)
            transaction.search.note_answer(query.mode, found=len(best.ranked))
    if parsed.rerank != "off":  # outside of the transaction, since a server may be slow
        by = rerankers.get(parsed.rerank)
        again, why = await rerank_top(
            query.text, best.ranked, best.entries, by=by, policy=parsed.policy
        )
        sure = above_threshold(again, policy=parsed.policy, min_score=query.min_score)
        ranked = archived_last(sure, is_archived=_is_archived, most=query.limit)
        best, skipped = replace(best, ranked=ranked), {**skipped, **why}
    retrieval = _answer(parsed, best, skipped=skipped)
    if parsed.is_cacheable and not skipped:
        value = retrieval.model_dump_json().encode()
        answers.put(scope, key, value, revision=known.knowledge)
    return retrieval


def _statement_of(text: CandidateText) -> Statement:
    """What a candidate says, and of whom and when: another that says the same repeats it."""
    return text.speaker, text.subjects, tuple(text.times), key_of(text.content)


def _is_archived(ranked: Ranked) -> bool:
    """Whether a candidate is of the archive, whose entries have numbers below 0."""
    return ranked.number < 0


def _answer(parsed: ParsedQuery, best: SearchHits, *, skipped: Mapping[str, str]) -> Retrieval:
    results = tuple(
        RetrievedEntry(
            entry=best.entries[one.number],
            score=round(one.score, 4),
            signals={name: round(part, 4) for name, part in one.signals.items()},
            passage=best.texts[one.number].passage,
            claims=best.claims.get(one.number, ()),
            archived=_is_archived(one),
        )
        for one in best.ranked
        if one.number in best.entries  # else it was removed meanwhile
    )
    period = parsed.period
    return Retrieval(
        results=results,
        words={
            " ".join(one.lexemes): round(one.weight, 3) for one in parsed.vocabulary.query_lexemes
        },
        names=tuple(sorted(parsed.names)),
        misspelt=dict(parsed.vocabulary.misspelt),
        period=None if period is None else (period.start, period.end),
        skipped=dict(skipped),
    )


async def _find_best(
    transaction: Transaction,
    parsed: ParsedQuery,
    *,
    terms: Terms,
    parser: QueryParser,
    embedder: Embedder,
) -> SearchHits:
    """The best live candidates; if none of them answers, archived ones follow, to which half of the places is left."""
    live = await _search(transaction.search, parsed, embedder)
    reads_archive = parsed.known.has_archive and parsed.policy.archived != "never"
    if not reads_archive or any(one.score >= _ANSWERS for one in live.ranked):
        return live
    store, archived = transaction.search, SearchHits()
    if not (parsed.query.tags or parsed.query.subject):  # only live entries are indexed by these
        words = await store.count_archived(parsed.known.all_lexemes)
        again = await parser.parse(
            store, parsed.query, terms=terms, known=parsed.known, archived=words
        )
        known = {_statement_of(live.texts[one.number]) for one in live.ranked}
        archived = await _search_archive(
            transaction, replace(again, vector=parsed.vector), embedder=embedder, known=known
        )
    found = (*live.ranked, *archived.ranked)
    return SearchHits(
        ranked=archived_last(found, is_archived=_is_archived, most=parsed.wanted),
        texts={**live.texts, **archived.texts},
        entries={**live.entries, **archived.entries},
        claims=live.claims,
    )


async def _search_archive(
    transaction: Transaction,
    parsed: ParsedQuery,
    *,
    embedder: Embedder,
    known: AbstractSet[Statement],
) -> SearchHits:
    """The best archived candidates that say what is not `known` from live ones."""
    if not parsed.is_answerable:
        return SearchHits()
    order = await _ranked(parsed, await transaction.search.find_archived(parsed), embedder)

    async def fetch(numbers: Sequence[int], _: ParsedQuery) -> SearchHits:
        ids = {number: order.texts[number].entry_id for number in numbers}
        entries = await transaction.archive.select([*ids.values()])
        hits = {number: entries[one] for number, one in ids.items() if one in entries}
        return SearchHits(entries=hits)

    best = await _fetch_best(fetch, parsed, order, known=known)
    return replace(best, ranked=best.ranked[: parsed.wanted])


async def _search(store: SearchStore, parsed: ParsedQuery, embedder: Embedder) -> SearchHits:
    """The best candidates.

    Sources may return entries that the filters rule out, since a strict search takes longer. If too few are left, a
    strict search follows.
    """
    if not parsed.is_answerable:
        return SearchHits()
    while True:
        found = await store.find_candidates(parsed)
        await compare_passages(found, vector=parsed.vector, embedder=embedder)
        order = await _ranked(parsed, found, embedder)
        if order.ranked:  # the row of the audit log goes with the statement that reads them
            store.note_answer(parsed.query.mode, found=min(len(order.ranked), parsed.wanted))
        best = await _fetch_best(store.fetch_hits, parsed, order)
        while best.outdated:  # what the query asks of them is superseded, as others are as a whole
            found = replace(found, successors={**best.outdated, **found.successors})
            order = await _ranked(parsed, found, embedder)
            best = await _fetch_best(store.fetch_hits, parsed, order, read=best)
        are_enough = len(best.ranked) >= parsed.wanted
        are_enough = are_enough or len(found) >= parsed.policy.pool
        if are_enough or found.is_exhaustive or parsed.is_strict:
            return replace(best, ranked=best.ranked[: parsed.wanted])
        parsed = replace(parsed, is_strict=True)


async def _ranked(parsed: ParsedQuery, found: Candidates, embedder: Embedder) -> SearchHits:
    """The candidates above the threshold, the best first, before any is read; long texts do not stop the loop."""
    texts = (text.content for text in found.texts)
    return await work_on(texts, lambda: _rank(parsed, found, embedder))


def _rank(parsed: ParsedQuery, found: Candidates, embedder: Embedder) -> SearchHits:
    query = parsed.query
    if parsed.needs_words:
        found = found.of(np.flatnonzero(found.rows["lexemes"]))
    candidates = found.with_inherited().without(
        are_superseded=parsed.excludes_superseded, entry_ids=query.excluded
    )
    if isinstance(embedder, WordEmbedder) and parsed.foreign is None:
        by_meaning = parsed.mode == "semantic"
        late_interaction(candidates, parsed.vocabulary, words=embedder, by_meaning=by_meaning)
    set_identity(candidates, parsed.exact_terms)
    ranked = rank(
        candidates,
        query=parsed,
        policy=parsed.policy,
        # A reranker may find that an entry below the threshold answers.
        min_score=query.min_score if parsed.rerank == "off" else 0.0,
    )
    texts = dict(zip(candidates.rows["number"].tolist(), candidates.texts, strict=True))
    return SearchHits(ranked=ranked, texts=texts)


async def _fetch_best(
    fetch: Fetch,
    parsed: ParsedQuery,
    order: SearchHits,
    *,
    known: AbstractSet[Statement] = frozenset(),
    read: SearchHits | None = None,
) -> SearchHits:
    """The best candidates that answer: reads batches until there are enough, without what was `read` before.

    Repetitions are left out: the same words with the same attribution (speaker, subjects and times) as a better one.
    """
    answers: list[Ranked] = []
    entries: dict[int, Entry] = {} if read is None else {**read.entries}
    claims: dict[int, tuple[StatedClaim, ...]] = {} if read is None else {**read.claims}
    outdated: dict[int, Sequence[int]] = {}
    stated = {*known}
    first, size = 0, 2 * parsed.wanted
    while (best := order.ranked[first : first + size]) and len(answers) < parsed.wanted:
        if unread := [one.number for one in best if one.number not in entries]:
            hits = await fetch(unread, parsed)
            entries |= hits.entries
            claims |= hits.claims
            outdated |= hits.outdated
        for one in best:
            if one.number in outdated:
                continue
            statement = _statement_of(order.texts[one.number])
            if parsed.query.repeats or statement not in stated:
                stated.add(statement)
                answers.append(one)
        first, size = first + size, 2 * size
    return SearchHits(answers, order.texts, entries, claims, outdated)
