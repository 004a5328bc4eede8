"""Retrieval: what an agent's memory has for a question, out of all sources, weighed.

It stands alone because every way of asking comes through it: the client, a job's nodes, and what is put
before a message.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

import numpy as np

from mnestic.activities.alike_words import liken
from mnestic.activities.asked_questions import Asking, Meanings, ReadQuestion, read_asked
from mnestic.activities.overlap import meanwhile
from mnestic.activities.reranking import SKIPPED, Rerankers, read_again
from mnestic.memory.candidates import Candidate
from mnestic.memory.entries import Entry
from mnestic.memory.persons import set_apart
from mnestic.memory.ports import Embedder, TokenCounter, Transaction, WordEmbedder
from mnestic.memory.questions import read_question
from mnestic.memory.ranking import Ranked, lent_in_vain, rank, strongest, sure_enough
from mnestic.memory.retrieval import Retrieval, RetrievalPolicy, RetrievalQuery, RetrievedEntry
from mnestic.memory.search import Hit, Search

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
_Best = tuple[list[Ranked], Mapping[int, Entry]]  # candidates, and their entries by number
_OF_OTHERS = 4  # times as many are looked at, before what others said than who is named is left out


@dataclass(frozen=True, slots=True)
class _Found:
    """What sources have brought: by words, by meaning, and all of it; None is what the question rules out."""

    words: Mapping[int, Hit]
    near: Mapping[int, float]
    told: Mapping[int, Candidate | None]
    may_lack_tagged: bool


async def retrieve(
    begin: Begin,
    query: RetrievalQuery,
    *,
    embedder: Embedder,
    rerankers: Rerankers = MappingProxyType({}),
    count_tokens: TokenCounter | None = None,
    policy: RetrievalPolicy | None = None,
) -> Retrieval:
    """What is known for a question, the surest first; nothing where nothing is known.

    An entry is found as soon as it is written: those that have no vector yet are embedded with the
    question. Where the embedder does not answer, the other sources do.

    Args:
        begin: Begins a transaction of the agent that reads.
        query: The question, and what may come back.
        embedder: That of the entries' vectors.
        rerankers: Who may read the best once more, where query or policy ask for it.
        count_tokens: Tells words that may be misspelt, since common ones are a single token.
        policy: The weights; the agent's own without one.
    """
    asked_at = query.asked_at or query.as_of or datetime.now(UTC)
    asking = Asking(
        query,
        asked_at=asked_at,
        question=read_question(query.text, asked_at=asked_at),
        model=embedder.name,
        count_tokens=count_tokens,
        policy=policy,
        words=embedder if isinstance(embedder, WordEmbedder) else None,
    )
    async with begin() as transaction:
        kept = await transaction.search.find_answer(asking.key) if asking.may_be_kept else None
        if kept is not None:
            return kept
        read = await read_asked(transaction, asking)
        if embedder.model is None:  # it takes no time, so a transaction may wait for it
            meanings, skipped = await _embed(embedder, read)
            best = await _search(transaction, read, meanings)
    if embedder.model is not None:
        meanings, skipped = await _embed(embedder, read)
        async with begin() as transaction:
            best = await _search(transaction, read, meanings)
    if read.rerank != "off":  # in no transaction, since somebody may have to be waited for
        by = rerankers.get(read.rerank)
        again, why = await read_again(query.text, *best, by=by, policy=read.policy)
        sure = sure_enough(again, policy=read.policy, min_score=query.min_score)
        best, skipped = (sure[: query.limit], best[1]), skipped | why
    told = _answer(read, best, skipped=skipped)
    if asking.may_be_kept and read.may_be_kept and not skipped:
        transaction.search.keep_answer(asking.key, told, read.known)
    return told


def _answer(read: ReadQuestion, best: _Best, *, skipped: Mapping[str, str]) -> Retrieval:
    ranked, entries = best
    found = tuple(
        RetrievedEntry(
            entry=entries[one.candidate.number],
            score=round(one.score, 4),
            signals={name: round(part, 4) for name, part in one.signals.items()},
        )
        for one in ranked
        if one.candidate.number in entries  # else it was removed meanwhile
    )
    return _told(read, found, skipped)


async def _embed(embedder: Embedder, read: ReadQuestion) -> tuple[Meanings | None, dict[str, str]]:
    """What the question means; None where that is not asked, or the embedder does not answer."""
    if read.query.mode == "text" or not read.asked.weights:
        return None, {}
    try:
        told = await embedder.embed([read.text, *(one.content for one in read.fresh)])
    except SKIPPED as error:
        return None, {"semantic": str(error)}
    vector, *others = (np.frombuffer(each, dtype="<f4") for each in told.vectors)
    vector = vector if read.foreign is None else read.foreign
    fresh = {
        one.number: float(vector @ other) for one, other in zip(read.fresh, others, strict=True)
    }
    return Meanings(embedder.name, vector.tobytes(), fresh), {}


async def _search(transaction: Transaction, read: ReadQuestion, meanings: Meanings | None) -> _Best:
    """The best candidates, and their entries by number.

    Sources may bring what the question rules out, as looking at the rest alone takes longer; where that
    leaves too few, they are asked for the rest.
    """
    if not read.is_answerable:
        return [], {}
    search = read.search(meanings)
    while True:
        found = await _find(transaction, search, meanings)
        ranked, sound, let_through = await _ranked(transaction, read, search, found=found)
        right, entries = await _judged(transaction, read, search, ranked=ranked, sound=sound)
        brought_all = len(found.words) < search.pool and len(found.near) < search.pool
        are_enough = len(right) >= read.wanted or let_through >= search.pool
        if are_enough or brought_all or search.is_strict:
            return right[: read.wanted], entries
        search = replace(search, is_strict=True)


async def _find(transaction: Transaction, search: Search, meanings: Meanings | None) -> _Found:
    """What the sources bring; while Postgres looks for meanings, what the others have brought is described."""
    store = transaction.search
    hits = await store.find(search)
    near, told = await meanwhile(
        store.find_near(search), partial(store.recall, hits.numbers, search)
    )
    near = {**meanings.fresh, **near} if meanings else near
    told |= store.recall(near.keys() - hits.numbers, search)
    lacking = (hits.numbers | near.keys()) - told.keys()
    told |= await store.describe(lacking, hits.learned.keys(), search)
    for one in filter(None, told.values()):
        hit = hits.words.get(one.number)
        one.words, one.lexemes = (hit.score, hit.lexemes) if hit else (0.0, 0)
        one.cosine = near.get(one.number, 0.0)
        one.learned = hits.learned.get(one.entry_id, 0.0)
    return _Found(hits.words, near, told, hits.may_lack_tagged)


async def _ranked(
    transaction: Transaction, read: ReadQuestion, search: Search, *, found: _Found
) -> tuple[list[Ranked], AbstractSet[int], int]:
    """Candidates in their order, those of them that are known to hold, and how many were let through."""
    query, asked, store = read.query, read.asked, transaction.search
    candidates = {
        number: one
        for number, one in found.told.items()
        if one and one.entry_id not in query.excluded
    }
    if read.is_by_words:
        for one in candidates.values():
            one.cosine *= bool(one.lexemes)
    lending = strongest(tuple(candidates.values()), asked=asked, policy=read.policy)
    tied, _ = await meanwhile(
        store.list_ties(lending, search), partial(_liken, read, tuple(candidates.values()))
    )
    for number in tied.over:  # what does not hold lends to nothing
        candidates.pop(number, None)
    # Where the best are read once more, that may find that what is not sure answers all the same.
    min_score = query.min_score if read.rerank == "off" else 0.0
    more = tied.numbers - found.told.keys()
    # Of several who are named all that is beside them tells who was there; a tag says something by itself.
    if not read.persons and not found.may_lack_tagged:
        more -= lent_in_vain(
            tied.ties,
            [candidates[number] for number in lending if number in candidates],
            asked=asked,
            policy=read.policy,
            min_score=min_score,
        )
    told = store.recall(more, search)
    told |= await store.describe(more - told.keys(), (), search)
    candidates |= {
        number: one for number, one in told.items() if one and one.entry_id not in query.excluded
    }
    set_apart(candidates.values(), number=len(read.persons))
    ranked = rank(
        tuple(candidates.values()),
        asked=asked,
        ties=tied.ties,
        policy=read.policy,
        min_score=min_score,
    )
    return ranked, set(lending), len(candidates) + len(tied.over)


def _liken(read: ReadQuestion, candidates: Sequence[Candidate]) -> None:
    if read.words is not None:
        by_meaning = read.query.mode == "semantic"
        liken(candidates, read.vocabulary, words=read.words, by_meaning=by_meaning)


async def _judged(
    transaction: Transaction,
    read: ReadQuestion,
    search: Search,
    *,
    ranked: Sequence[Ranked],
    sound: AbstractSet[int],
) -> _Best:
    """The best that answer, looked at until there are enough, and their entries.

    Who is named speaks for themselves, where they do; of what others say no more than a few are looked at.
    """
    limit, size = read.wanted, 2 * read.wanted
    sure = sure_enough(ranked, policy=read.policy, min_score=read.query.min_score)
    if are_said := any(one.candidate.is_said for one in sure):
        few = ranked[: _OF_OTHERS * limit]
        ranked = [*few, *(one for one in ranked[len(few) :] if not _is_of_another(one.candidate))]
    right: list[Ranked] = []
    entries: dict[int, Entry] = {}
    for first in range(0, len(ranked), size):
        best = ranked[first : first + size]
        judged = await transaction.search.judge(
            [one.candidate.number for one in best],
            search,
            sound=sound,
            apart=[
                one.candidate.number for one in best if are_said and _is_of_another(one.candidate)
            ],
            told=limit - len(entries),
        )
        right += [one for one in best if one.candidate.number not in judged.wrong]
        entries |= judged.entries
        if len(entries) >= limit:
            break
    return right, entries


def _is_of_another(candidate: Candidate) -> bool:
    """Whether somebody said it whom the question does not name."""
    return candidate.is_turn and candidate.concern == "other"


def _told(
    read: ReadQuestion, found: tuple[RetrievedEntry, ...], skipped: Mapping[str, str]
) -> Retrieval:
    period = read.asked.period
    return Retrieval(
        found=found,
        words={" ".join(one.lexemes): round(one.weight, 3) for one in read.vocabulary.asked},
        names=read.asked.names,
        misspelt=dict(read.vocabulary.misspelt),
        period=None if period is None else (period.start, period.end),
        skipped=dict(skipped),
    )
