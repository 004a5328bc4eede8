"""Retrieval: what an agent's memory has for a question, out of all sources, weighed.

It stands alone because every way of asking comes through it: the client, a job's nodes, and what is put
before a message.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from mnestic.activities.alike_words import liken
from mnestic.activities.reranking import SKIPPED, Rerankers, read_again
from mnestic.memory.agent_settings import settings_of
from mnestic.memory.asked_facts import asked_predicates, asked_tags, touched_predicates
from mnestic.memory.asked_languages import LANGUAGE
from mnestic.memory.claims import name_key
from mnestic.memory.entries import Entry
from mnestic.memory.persons import persons_of, set_apart
from mnestic.memory.ports import Embedder, TokenCounter, Transaction, WordEmbedder
from mnestic.memory.questions import (
    Question,
    is_english,
    possible_names,
    read_question,
    telling_words,
    without_names,
)
from mnestic.memory.ranking import Asked, Candidate, Ranked, rank, strongest, sure_enough
from mnestic.memory.retrieval import (
    Rerank,
    Retrieval,
    RetrievalPolicy,
    RetrievalQuery,
    RetrievedEntry,
)
from mnestic.memory.search import FreshEntry, Hits, Known, Search, Vocabulary

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
_Best = tuple[list[Ranked], Mapping[int, Entry]]  # candidates, and their entries by number
_FRESH = 1000  # entries without a vector that are embedded with the question
_OF_OTHERS = 4  # times as many are looked at, before what others said than who is named is left out


@dataclass(frozen=True, slots=True)
class _Asking:
    """What `retrieve` was asked, and how it reads now."""

    query: RetrievalQuery
    asked_at: datetime
    question: Question
    model: str
    count_tokens: TokenCounter | None
    policy: RetrievalPolicy | None
    words: WordEmbedder | None

    @property
    def may_be_kept(self) -> bool:
        """Whether it may be asked again: a moment comes once."""
        return self.query.asked_at is None

    @property
    def key(self) -> str:
        """All that an answer depends on, beside the agent's memory and the time."""
        query = self.query.model_dump(mode="json") | {"excluded": sorted(self.query.excluded)}
        policy = self.policy and self.policy.model_dump(mode="json")
        of_times = repr((self.question.period, self.question.earlier))  # such as of last week
        return json.dumps([query, policy, self.model, self.count_tokens is None, of_times])

    def may_be_misspelt(self, word: str) -> bool:
        """Whether a word is not among the common ones."""
        return self.count_tokens is not None and self.count_tokens(f" {word.casefold()}") > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A question as the agent's memory understands it; `called` are the words of names in it.

    `is_by_words`: what has no word of it is not near it, as the embedder knows its language too little.
    """

    query: RetrievalQuery
    asked: Asked
    vocabulary: Vocabulary
    called: Vocabulary
    names: frozenset[str]
    persons: tuple[frozenset[str], ...]
    tags: frozenset[str]
    predicates: Mapping[str, float]
    respects: frozenset[str]
    text: str
    foreign: NDArray[np.float32] | None
    is_by_words: bool
    fresh: tuple[FreshEntry, ...]
    known: Known
    policy: RetrievalPolicy
    words: WordEmbedder | None

    def search(self, meanings: "_Meanings | None") -> Search:
        """What sources are asked."""
        return Search(
            query=self.query,
            vocabulary=self.vocabulary,
            called=self.called,
            names=self.names,
            persons=self.persons,
            tags=self.tags,
            predicates=self.predicates,
            respects=self.respects,
            period=self.asked.period,
            pool=self.policy.pool,
            model=meanings.model if meanings else "",
            vector=meanings.vector if meanings else None,
            vectors=self.known.entries - self.known.bare,
            now=self.known.now,
            knowledge=self.known.knowledge,
        )

    @property
    def rerank(self) -> Rerank:
        """By whom the best are read once more."""
        return self.query.rerank or self.policy.rerank

    @property
    def wanted(self) -> int:
        """How many of the best are looked at."""
        read = 0 if self.rerank == "off" else self.policy.reranked
        return max(self.query.limit, read)

    @property
    def may_be_kept(self) -> bool:
        """Whether it is memory alone that answers."""
        return self.rerank != "remote"

    @property
    def is_answerable(self) -> bool:
        """Whether it says what is looked for."""
        return bool(self.asked.weights or self.names or self.asked.period)


@dataclass(frozen=True, slots=True)
class _Meanings:
    """The vector of a question, and the cosines of entries that have no vector in the store yet."""

    model: str
    vector: bytes
    fresh: Mapping[int, float]


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
    asking = _Asking(
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
        read = await _read(transaction, asking)
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


def _answer(read: _Read, best: _Best, *, skipped: Mapping[str, str]) -> Retrieval:
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


async def _read(transaction: Transaction, asking: _Asking) -> _Read:
    query, question, search = asking.query, asking.question, transaction.search
    keys = possible_names(question.words)
    words = {word.text for word in question.words}
    known = await search.recognise(keys, words, model=asking.model)
    named = without_names(question.words, known.names)  # whom it is about is no word of it
    names: frozenset[str] = frozenset().union(*(known.names[name].keys for name in named.names))
    telling = telling_words(named.words)
    is_english_asked = is_english(named.words)
    is_foreign = not is_english_asked and LANGUAGE not in known.languages
    slips = [word for word in telling if is_foreign or asking.may_be_misspelt(word)]
    quiet = set(named.words).difference(telling)
    vocabulary = await search.look_up(named.words, known, slips=slips, quiet=quiet)
    weights = vocabulary.weights
    silent = [name for name in named.names if not weights or not known.names[name].speaks]
    of_names = {part for name in silent for part in name.split()}
    called = [word.text for word in question.words if name_key(word.text) in of_names]
    period = question.period
    if period is not None and question.earlier:
        period = await search.find_period((period, *question.earlier)) or period
    by_meaning = query.mode != "text" and weights
    text, foreign = " ".join(named.words), None
    if asking.words is not None and not is_english_asked:
        said = " ".join(word for word in named.words if word not in vocabulary.silent)
        foreign = asking.words.embed_foreign(text, telling=said, is_sure=is_foreign)
    return _Read(
        query=query,
        asked=Asked(
            asked_at=asking.asked_at,
            weights=weights,
            names=tuple(sorted(names)),
            period=period,
            asks_when=question.asks_when,
            mode=query.mode,
        ),
        vocabulary=vocabulary,
        called=await search.look_up(called, known),
        names=names,
        persons=persons_of(named, known.names) if named.is_between else (),
        tags=keys | asked_tags(named.words),
        predicates=asked_predicates(telling, number=len(weights)),
        respects=touched_predicates(telling, number=len(weights)),
        text=text,
        foreign=foreign,
        is_by_words=is_foreign and foreign is not None and query.mode == "hybrid",
        fresh=await search.list_fresh(asking.model, known, limit=_FRESH) if by_meaning else (),
        known=known,
        policy=asking.policy or settings_of(known.settings).policy,
        words=None if foreign is not None else asking.words,
    )


async def _embed(embedder: Embedder, read: _Read) -> tuple[_Meanings | None, dict[str, str]]:
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
    return _Meanings(embedder.name, vector.tobytes(), fresh), {}


async def _search(transaction: Transaction, read: _Read, meanings: _Meanings | None) -> _Best:
    """The best candidates, and their entries by number.

    Sources may bring what the question rules out, as looking at the rest alone takes longer; where that
    leaves too few, they are asked for the rest.
    """
    if not read.is_answerable:
        return [], {}
    search = read.search(meanings)
    while True:
        hits = await transaction.search.find(search)
        near = {**meanings.fresh, **hits.near} if meanings else hits.near
        hits = replace(hits, near=near)
        ranked, sound, let_through = await _ranked(transaction, read, search, hits=hits)
        right, entries = await _judged(transaction, read, search, ranked=ranked, sound=sound)
        brought_all = len(hits.words) < search.pool and len(near) < search.pool
        are_enough = len(right) >= read.wanted or let_through >= search.pool
        if are_enough or brought_all or search.is_strict:
            return right[: read.wanted], entries
        search = replace(search, is_strict=True)


async def _ranked(
    transaction: Transaction, read: _Read, search: Search, *, hits: Hits
) -> tuple[list[Ranked], AbstractSet[int], int]:
    """Candidates in their order, those of them that are known to hold, and how many were let through."""
    query, asked, store = read.query, read.asked, transaction.search
    described = await store.describe(hits.numbers, hits.learned.keys(), search)
    candidates = {one.number: one for one in described if one.entry_id not in query.excluded}
    for one in candidates.values():
        hit = hits.words.get(one.number)
        one.words, one.lexemes = (hit.score, hit.lexemes) if hit else (0.0, 0)
        is_near = not read.is_by_words or bool(one.lexemes)
        one.cosine = hits.near.get(one.number, 0.0) if is_near else 0.0
        one.learned = hits.learned.get(one.entry_id, 0.0)
    if read.words is not None:
        by_meaning = query.mode == "semantic"
        liken(candidates.values(), read.vocabulary, words=read.words, by_meaning=by_meaning)
    lending = strongest(tuple(candidates.values()), asked=asked, policy=read.policy)
    tied = await store.list_ties(lending, search)
    more = await store.describe(tied.numbers - hits.numbers - candidates.keys(), (), search)
    candidates |= {one.number: one for one in more if one.entry_id not in query.excluded}
    for number in tied.over:  # what does not hold lends to nothing
        candidates.pop(number, None)
    set_apart(candidates.values(), number=len(read.persons))
    # Where the best are read once more, that may find that what is not sure answers all the same.
    ranked = rank(
        tuple(candidates.values()),
        asked=asked,
        ties=tied.ties,
        policy=read.policy,
        min_score=query.min_score if read.rerank == "off" else 0.0,
    )
    return ranked, set(lending), len(candidates) + len(tied.over)


async def _judged(
    transaction: Transaction,
    read: _Read,
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


def _told(read: _Read, found: tuple[RetrievedEntry, ...], skipped: Mapping[str, str]) -> Retrieval:
    period = read.asked.period
    return Retrieval(
        found=found,
        words={" ".join(one.lexemes): round(one.weight, 3) for one in read.vocabulary.asked},
        names=read.asked.names,
        misspelt=dict(read.vocabulary.misspelt),
        period=None if period is None else (period.start, period.end),
        skipped=dict(skipped),
    )
