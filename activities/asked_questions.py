"""A question as an agent's memory understands it: what it names, its words as they are stored, its time.

It stands apart from the search, which begins once all of this is known.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from mnestic.memory.agent_settings import settings_of
from mnestic.memory.asked_facts import (
    asked_predicates,
    asked_tags,
    asked_types,
    doing,
    touched_predicates,
)
from mnestic.memory.asked_languages import LANGUAGE
from mnestic.memory.candidates import Asked
from mnestic.memory.claims import name_key
from mnestic.memory.persons import persons_of
from mnestic.memory.ports import TokenCounter, Transaction, WordEmbedder
from mnestic.memory.predicates import NAMING
from mnestic.memory.questions import (
    COMMON_SLIPS,
    Question,
    asks_of_past,
    is_english,
    possible_names,
    telling_words,
    without_names,
)
from mnestic.memory.relatives import Relative, relatives_in
from mnestic.memory.retrieval import Rerank, RetrievalPolicy, RetrievalQuery
from mnestic.memory.retrieval_ports import SearchStore
from mnestic.memory.search import Fresh, Known, Search, Vocabulary
from mnestic.memory.slips import may_be_another

_FRESH = 1000  # entries without a vector that are embedded with the question


@dataclass(frozen=True, slots=True)
class Asking:
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
        query = self.query.model_dump_json(exclude={"excluded"})
        policy = self.policy and self.policy.model_dump_json()
        of_times = repr((self.question.period, self.question.earlier))  # such as of last week
        excluded = sorted(self.query.excluded)
        return json.dumps(
            [query, excluded, policy, self.model, self.count_tokens is None, of_times]
        )

    def may_be_misspelt(self, word: str) -> bool:
        """Whether a word is not among the common ones."""
        folded = word.casefold()
        is_rare = self.count_tokens is not None and not self._is_common(folded)
        return is_rare or folded in COMMON_SLIPS

    def is_in_doubt(self, names: Mapping[str, str], words: Mapping[str, str]) -> bool:
        """Whether one of the names or words that were read as others may be the name of somebody else."""
        asked_about = {word for name in self.question.asked_about for word in name}
        slips = {
            word: read
            for word, read in words.items()
            if (self._is_name(word) or word in asked_about) and not read.startswith(word.casefold())
        }
        return (
            any(
                may_be_another(name_key(word), read, is_common=self._is_name(word))
                for word, read in names.items()
            )
            or any(  # words are read as stems
                may_be_another(name_key(word)[: len(read)], read, is_common=False)
                for word, read in slips.items()
                if word not in names
            )
        )

    def is_of_stranger(self, known: Known, misspelt: Mapping[str, str]) -> bool:
        """Whether it asks about somebody of whom nothing is known: of all that they are called, no word is."""
        return any(
            all(self.may_be_misspelt(word) and not _is_known(word, known) for word in name)
            and misspelt.keys().isdisjoint(name)
            for name in self.question.asked_about
        )

    def _is_name(self, word: str) -> bool:
        """Whether a word is common where it begins with a capital."""
        return self._is_common(word.capitalize())

    def _is_common(self, word: str) -> bool:
        return self.count_tokens is not None and self.count_tokens(f" {word}") == 1


@dataclass(frozen=True, slots=True)
class Meanings:
    """The vector of a question, and the cosines of entries that have no vector in the store yet."""

    model: str
    vector: bytes
    fresh: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """A question as the agent's memory understands it; `called` are the words of names in it.

    `is_by_words`: what has no word of it is not near it, as the embedder knows its language too little.
    """

    query: RetrievalQuery
    asked: Asked
    vocabulary: Vocabulary
    called: Vocabulary
    names: frozenset[str]
    believed: frozenset[str]
    persons: tuple[frozenset[str], ...]
    tags: frozenset[str]
    predicates: Mapping[str, float]
    respects: frozenset[str]
    text: str
    foreign: NDArray[np.float32] | None
    is_by_words: bool
    fresh: Fresh
    known: Known
    policy: RetrievalPolicy
    words: WordEmbedder | None

    def search(self, meanings: Meanings | None) -> Search:
        """What sources are asked."""
        return Search(
            query=self.query,
            vocabulary=self.vocabulary,
            called=self.called,
            names=self.names,
            believed=self.believed,
            persons=self.persons,
            tags=self.tags,
            predicates=self.predicates,
            respects=self.respects,
            period=self.asked.period,
            pool=self.policy.pool,
            model=meanings.model if meanings else "",
            vector=meanings.vector if meanings else None,
            vectors=self.known.entries - self.known.bare,
            fresh=frozenset(one.number for one in self.fresh.entries)
            if self.fresh.is_settled
            else None,
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


async def read_asked(transaction: Transaction, asking: Asking) -> ReadQuestion:
    """Reads a question with what the agent's memory knows of it."""
    query, search = asking.query, transaction.search
    question, keys, known, mended = await _recognise(search, asking)
    named = without_names(question.words, known.names)  # whom it is about is no word of it
    names: frozenset[str] = frozenset().union(*(known.names[name].keys for name in named.names))
    related = [one for one in relatives_in(question.words) if _is_known_by(one, known)]
    believed = await _believed(search, related, known) if related else names
    others = {name for name in named.names if known.names[name].keys - {name}}  # aliases
    tags = (keys - others | asked_tags(named.words)) & known.tags
    telling = telling_words(named.words)
    is_english_asked = is_english(named.words)
    is_foreign = not is_english_asked and LANGUAGE not in known.languages
    by = {one.word for one in related}  # by whom, and not what is asked
    of_facts = (*(word for word in telling if word not in by), *doing(named.words))
    if related and asked_predicates(of_facts, number=1).keys() <= {*NAMING}:  # who that is
        by, believed, of_facts = set(), believed | names, (*telling, *doing(named.words))
    slips = [word for word in telling if is_foreign or asking.may_be_misspelt(word)]
    quiet = set(named.words).difference(telling)
    vocabulary = await search.look_up(named.words, known, slips=slips, quiet=quiet)
    weights = vocabulary.weights
    number = max(1, len(weights) - len(by))
    silent = [name for name in named.names if not weights or not known.names[name].speaks]
    of_names = {part for name in silent for part in name.split()}
    called = [word.text for word in question.words if name_key(word.text) in of_names]
    period = question.period
    if period is not None and question.earlier:
        period = await search.find_period((period, *question.earlier), known) or period
    by_meaning = query.mode != "text" and weights
    text, foreign = " ".join(named.words), None
    if asking.words is not None and not is_english_asked:
        said = " ".join(word for word in named.words if word not in vocabulary.silent)
        foreign = asking.words.embed_foreign(text, telling=said, is_sure=is_foreign)
    return ReadQuestion(
        query=query,
        asked=Asked(
            asked_at=asking.asked_at,
            weights=weights,
            names=tuple(sorted(believed or names)),
            period=period,
            is_question=question.is_question,
            asks_when=question.asks_when,
            is_in_doubt=asking.is_in_doubt(mended, vocabulary.misspelt)
            or (bool(related) and not believed and not any(_is_known(word, known) for word in by))
            or (not (is_foreign or names) and asking.is_of_stranger(known, vocabulary.misspelt)),
            tells_past=query.statuses != ("active",)
            or asks_of_past([word.text for word in question.words]),
            mode=query.mode,
        ),
        vocabulary=replace(vocabulary, misspelt={**mended, **vocabulary.misspelt}),
        called=await search.look_up(called, known),
        names=names | believed,
        believed=believed,
        persons=persons_of(named, known.names) if named.is_between else (),
        tags=tags | asked_types(named.words),
        predicates=asked_predicates(of_facts, number=number),
        respects=touched_predicates(of_facts, number=number),
        text=text,
        foreign=foreign,
        is_by_words=is_foreign and foreign is not None and query.mode == "hybrid",
        fresh=await search.list_fresh(asking.model, known, limit=_FRESH) if by_meaning else Fresh(),
        known=known,
        policy=asking.policy or settings_of(known.settings).policy,
        words=None if foreign is not None else asking.words,
    )


async def _recognise(
    search: SearchStore, asking: Asking
) -> tuple[Question, frozenset[str], Known, Mapping[str, str]]:
    """A question with its names as they are known, what may name something, what is known of it, and which names were misspelt."""
    question = asking.question
    keys, known = await _known(search, question, asking)
    is_english_asked = is_english({word.text for word in question.words})
    strange = [
        word.text
        for word in question.words
        if word.may_name
        and (word.text[:1].isupper() or not known.names)
        and name_key(word.text) not in known.names
        and not _is_known(word.text, known)
        and (asking.may_be_misspelt(word.text) or (word.is_capital and is_english_asked))
    ]
    mended = await search.near_names(strange, known) if strange and known.entries else {}
    if not mended:
        return question, keys, known, {}
    mended_words = tuple(
        word._replace(text=mended.get(word.text, word.text)) for word in question.words
    )
    question = question._replace(words=mended_words)
    keys, known = await _known(search, question, asking)
    return question, keys, known, mended


async def _known(
    search: SearchStore, question: Question, asking: Asking
) -> tuple[frozenset[str], Known]:
    """The keys of all that may be a name in a question, and what is known of it and of what somebody's relative is called."""
    keys, words = possible_names(question.words), {word.text for word in question.words}
    relatives = (one.keys for one in relatives_in(question.words))
    tags = keys | asked_tags(words)
    known = await search.recognise(
        keys.union(*relatives),
        words,
        tags=tags,
        model=asking.model,
    )
    return keys, known


async def _believed(
    search: SearchStore, related: Sequence[Relative], known: Known
) -> frozenset[str]:
    """By whom facts are asked for, where it is somebody's relative: what they are called by them, or themselves."""
    owners = frozenset().union(*(one.owners for one in related)) & known.names.keys()
    predicates = {one.predicate for one in related if one.predicate}
    keys: frozenset[str] = frozenset().union(*(one.keys for one in related)) & known.names.keys()
    names = await search.list_related(owners, predicates)
    return keys.union(*(one.called(name) for one in related for name in names))


def _is_known_by(relative: Relative, known: Known) -> bool:
    """Whether something is known of somebody by whom they are, or it is of kin, of whom nothing may be known."""
    return relative.predicate is not None or not relative.keys.isdisjoint(known.names)


def _is_known(word: str, known: Known) -> bool:
    """Whether an entry has a word, in any language."""
    return any(one.entries for part in known.words.get(word, ()) for one in part.values())
