"""Retrieval: what an agent's memory has for a question, out of all sources, weighed.

It stands alone because every way of asking comes through it: the client, a job's nodes, and what is put
before a message.
"""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from types import MappingProxyType

from mnestic.activities.asked_questions import Asking, Meanings, ReadQuestion, read_asked
from mnestic.activities.late_interaction import late_interaction
from mnestic.activities.overlap import alongside, meanwhile
from mnestic.activities.question_meanings import Meant, embed_question, foresee_meaning
from mnestic.activities.reranking import Rerankers, read_again
from mnestic.memory.candidates import Candidates, CandidateText, Succession
from mnestic.memory.entries import Entry
from mnestic.memory.packing import key_of
from mnestic.memory.persons import set_apart, unheard_of
from mnestic.memory.ports import Embedder, TokenCounter, Transaction, WordEmbedder
from mnestic.memory.questions import read_question
from mnestic.memory.ranking import Ranked, lent_in_vain, rank, strongest, sure_enough
from mnestic.memory.retrieval import Retrieval, RetrievalPolicy, RetrievalQuery, RetrievedEntry
from mnestic.memory.retrieval_ports import SearchStore
from mnestic.memory.search import Hits, Search
from mnestic.memory.terms import fold

Begin = Callable[[], AbstractAsyncContextManager[Transaction]]
_Best = tuple[list[Ranked], Mapping[int, Entry]]  # candidates, and their entries by number
_AtHand = tuple[dict[int, float], Candidates]  # what is nearest in meaning, and what it says
_NO_LETTERS = re.compile(r"\W+")
_FEWEST_LASTING = 0.25  # the least share of the best that is taken to last
_OF_OTHERS = 4  # times as many are looked at, before what others said than who is named is left out


@dataclass(frozen=True, slots=True)
class _Found:
    """What sources have brought; `brought_all`: none of them has more."""

    candidates: Candidates
    successions: Sequence[Succession]
    brought_all: bool
    may_lack_tagged: bool


@dataclass(frozen=True, slots=True)
class _Order:
    """Candidates in their order, and what is known of them.

    `sound` are those whose claims have been looked at, `lasting` the share of them of which something holds; `unheard`
    those that others said where nobody whom the question names is known to have been; `let_through` is how many there
    were, and `texts` what all say by number.
    """

    ranked: Sequence[Ranked]
    sound: AbstractSet[int]
    lasting: float
    unheard: AbstractSet[int]
    let_through: int
    texts: Mapping[int, CandidateText]


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
        key = asking.key if asking.may_be_kept else None
        kept = None if key is None else await transaction.search.find_answer(key)
        if kept is not None:
            return kept
        if embedder.model is None:  # it takes no time, so a transaction may wait for it
            foresee = partial(foresee_meaning, embedder, transaction.search, asking)
            read, foreseen = await alongside(read_asked(transaction, asking), foresee)
            embed = partial(embed_question, embedder, read, foreseen)
            best, skipped = await _search(transaction, read, embed)
        else:
            read = await read_asked(transaction, asking)
    if embedder.model is not None:
        meant = await embed_question(embedder, read)
        async with begin() as transaction:
            best, skipped = await _search(transaction, read, partial(_told_before, meant))
    if read.rerank != "off":  # in no transaction, since somebody may have to be waited for
        by = rerankers.get(read.rerank)
        again, why = await read_again(query.text, *best, by=by, policy=read.policy)
        sure = sure_enough(again, policy=read.policy, min_score=query.min_score)
        best, skipped = (sure[: query.limit], best[1]), {**skipped, **why}
    told = _answer(read, best, skipped=skipped)
    if key is not None and read.may_be_kept and not skipped:
        transaction.search.keep_answer(key, told, read.known)
    return told


def _answer(read: ReadQuestion, best: _Best, *, skipped: Mapping[str, str]) -> Retrieval:
    ranked, entries = best
    found = tuple(
        RetrievedEntry(
            entry=entries[one.number],
            score=round(one.score, 4),
            signals={name: round(part, 4) for name, part in one.signals.items()},
        )
        for one in ranked
        if one.number in entries  # else it was removed meanwhile
    )
    return _told(read, found, skipped)


async def _told_before(meant: Meant) -> Meant:
    return meant


async def _search(
    transaction: Transaction, read: ReadQuestion, embed: Callable[[], Awaitable[Meant]]
) -> tuple[_Best, Mapping[str, str]]:
    """The best candidates, their entries by number, and why the embedder was skipped, if it was.

    Sources may bring what the question rules out, as looking at the rest alone takes longer; where that
    leaves too few, they are asked for the rest.
    """
    if not read.is_answerable:
        return ([], {}), {}
    store = transaction.search

    async def mean() -> tuple[Search, Meant, _AtHand | None]:
        meant = await embed()
        search = read.search(meant[0])
        return search, meant, _recall_near(store, search)

    # What words bring is looked for before it is known what they mean.
    hits, (search, (meanings, skipped), at_hand) = await alongside(
        store.find(read.search(None)), mean
    )
    while True:
        found = await _find(store, search, meanings, hits=hits, at_hand=at_hand)
        order = await _ranked(transaction, read, search, found=found)
        right, entries = await _judged(transaction, read, search, order=order)
        are_enough = len(right) >= read.wanted or order.let_through >= search.pool
        if are_enough or found.brought_all or search.is_strict:
            return (right[: read.wanted], entries), skipped
        search = replace(search, is_strict=True)
        hits, at_hand = await meanwhile(store.find(search), partial(_recall_near, store, search))


async def _find(
    store: SearchStore,
    search: Search,
    meanings: Meanings | None,
    *,
    hits: Hits,
    at_hand: _AtHand | None,
) -> _Found:
    """What the sources bring; while Postgres looks for some of it, the process works on the rest."""
    if at_hand is not None:
        near, told = at_hand
        looked_for: AbstractSet[int] = near.keys()
    else:
        near, told = await meanwhile(
            store.find_near(search), partial(store.recall, hits.numbers, search)
        )
        looked_for = hits.numbers
    near = {**meanings.fresh, **near} if meanings else near
    numbers = hits.numbers | near.keys()
    told = told.joined(store.recall(numbers - looked_for, search))
    lacking = hits.learned.keys() - {text.entry_id for text in told.texts}
    told = told.joined(await store.describe(numbers - told.numbers, lacking, search))
    told.hear(hits.words, near, hits.learned)
    return _Found(
        told,
        successions=hits.successions,
        brought_all=len(hits.words) < search.pool and len(near) < search.pool,
        may_lack_tagged=hits.may_lack_tagged,
    )


def _recall_near(store: SearchStore, search: Search) -> _AtHand | None:
    """What is nearest, by what the process keeps, and what it keeps of that; None where it lacks some vectors."""
    near = store.recall_near(search)
    return None if near is None else (near, store.recall(near.keys(), search))


async def _ranked(
    transaction: Transaction, read: ReadQuestion, search: Search, *, found: _Found
) -> _Order:
    """Candidates in their order."""
    query, asked, store = read.query, read.asked, transaction.search
    candidates = found.candidates.without(entry_ids=query.excluded)
    if read.is_by_words:
        candidates.rows["cosine"] *= candidates.rows["lexemes"] != 0
    lending = strongest(candidates, asked=asked, policy=read.policy)
    tied, _ = await meanwhile(store.list_ties(lending, search), partial(_liken, read, candidates))
    candidates = candidates.without(tied.over)  # what does not hold lends to nothing
    # Where the best are read once more, that may find that what is not sure answers all the same.
    min_score = query.min_score if read.rerank == "off" else 0.0
    more = tied.numbers - candidates.numbers
    # Of several who are named all that is beside them tells who was there; a tag says something by itself.
    if not read.persons and not found.may_lack_tagged:
        more -= lent_in_vain(
            tied.ties,
            candidates.among(set(lending)),
            asked=asked,
            policy=read.policy,
            min_score=min_score,
        )
    told = store.recall(more, search)
    told = told.joined(await store.describe(more - told.numbers, (), search))
    candidates = candidates.joined(told.without(entry_ids=query.excluded))
    set_apart(candidates, number=len(read.persons))
    ranked = rank(
        candidates,
        asked=asked,
        ties=tied.ties,
        policy=read.policy,
        successions=found.successions,
        min_score=min_score,
    )
    return _Order(
        ranked,
        set(lending),
        1 - len(tied.over) / max(1, len(lending)),
        unheard_of(candidates),
        len(candidates) + len(tied.over),
        dict(zip(candidates.rows["number"].tolist(), candidates.texts, strict=True)),
    )


def _liken(read: ReadQuestion, candidates: Candidates) -> None:
    if read.words is not None:
        by_meaning = read.query.mode == "semantic"
        late_interaction(candidates, read.vocabulary, words=read.words, by_meaning=by_meaning)


async def _judged(
    transaction: Transaction,
    read: ReadQuestion,
    search: Search,
    *,
    order: _Order,
) -> _Best:
    """The best that answer, looked at until there are enough, and their entries.

    Who is named speaks for themselves, where they do; of what others say no more than a few are looked at.
    """
    limit, ranked = read.wanted, order.ranked
    sure = sure_enough(ranked, policy=read.policy, min_score=read.query.min_score)
    if are_said := any(one.is_said for one in sure):
        few = ranked[: _OF_OTHERS * limit]
        ranked = [*few, *(one for one in ranked[len(few) :] if not one.is_of_another)]
    right: list[Ranked] = []
    entries: dict[int, Entry] = {}
    doubted = order.unheard if are_said else frozenset()
    compared = ranked[: 0 if read.query.repeats else 2 * limit]
    again = len(compared) - len(_different(compared, order))
    wanted = (2 * limit + again) / max(order.lasting, _FEWEST_LASTING)
    first, size = 0, max(round(wanted), _until(ranked, doubted, wanted=limit + limit // 4))
    while best := ranked[first : first + size]:
        judged = await transaction.search.judge(
            [one.number for one in best],
            search,
            sound=order.sound,
            apart=[one.number for one in best if one.number in doubted],
            told=limit - len(right) + again,
        )
        entries |= judged.entries
        right += [one for one in best if one.number not in judged.wrong]
        left = sum(one.number not in judged.wrong for one in compared)
        if compared and (again or first or left < limit):  # else the first of them are different
            right = _different(right, order)
        if len(right) >= limit:
            break
        first, size = first + size, 2 * size
    unread = [one.number for one in right[:limit] if one.number not in entries]
    return right, entries | await transaction.search.read(unread, search)


def _different(best: Sequence[Ranked], order: _Order) -> list[Ranked]:
    """Those that do not say the same as one before them, by the same person and of the same.

    That has the same words, and so as much of the question's; unless its meaning alone has brought it.
    """
    texts, groups = order.texts, [best]
    keys: list[Callable[[Ranked], object]] = [
        lambda one: _whose(texts[one.number]),
        lambda one: _letters(texts[one.number]),
        lambda one: key_of(texts[one.number].content),
    ]
    for key in (_by_words, *keys) if all(map(_by_words, best)) else keys:
        groups = [alike for some in groups for alike in _groups(some, key)]
    first = {some[0].number for some in groups}
    return [one for one in best if one.number in first]


def _by_words(one: Ranked) -> float:
    """What it says of the question by its words."""
    return float(one.weighed["lexical"].item(one.place))


def _groups(some: Sequence[Ranked], key: Callable[[Ranked], object]) -> Sequence[Sequence[Ranked]]:
    """Those of the same key, in their order; one alone needs none."""
    if len(some) == 1:
        return [some]
    groups: defaultdict[object, list[Ranked]] = defaultdict(list)
    for one in some:
        groups[key(one)].append(one)
    return [*groups.values()]


def _whose(text: CandidateText) -> tuple[object, ...]:
    """By whom it is, of whom, and of when."""
    return text.speaker, text.subjects, text.times


def _letters(text: CandidateText) -> str:
    """What it says without signs."""
    return _NO_LETTERS.sub("", fold(text.content))


def _until(ranked: Sequence[Ranked], doubted: AbstractSet[int], *, wanted: int) -> int:
    """How many of the first ones there are until so many are among them that are not doubted."""
    sound = (place for place, one in enumerate(ranked, 1) if one.number not in doubted)
    return next(islice(sound, wanted - 1, None), len(ranked))


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
