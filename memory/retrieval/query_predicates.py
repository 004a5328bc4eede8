"""The predicates, tags and types of entries that the words of a query ask for.

It stands apart from the predicates because it knows English alone and is only a help: other queries are answered by
words and meaning.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.facts import Interval
from mnestic.memory.knowledge.predicates import default_predicates
from mnestic.memory.language.terms import terms_of
from mnestic.memory.language.word_lists import read_word_lists

_WORK = "profession"
_LIKING = "enjoy"
_NEGATIONS = frozenset({"not", "never"})  # as words of a query
_PAST = 0.8  # the weight with which words of a present predicate ask for the past one, or the other way round
_FILE = Path(__file__).with_name("predicate_words.yaml")


def query_predicates(
    words: Collection[str],
    *,
    number: int,
    known: Collection[str] = (),
    is_earlier: bool = False,
) -> dict[str, float]:
    """The predicates that the words of a query ask for, each with the share of the words that do.

    Args:
        words: The content words and the action words of the query, without names.
        number: How many of them carry its meaning.
        known: Predicates beside the defaults; the words of their names ask for them.
        is_earlier: Whether the query asks for what was so before, so that words of a present predicate ask for the past one.
    """
    terms = _terms(words)
    if not terms:
        return {}
    whole = max(number, len(terms))
    found = {}
    for name, groups in _matching(terms, words, known):
        matched = [terms & group for group in groups]
        if all(matched):
            found[name] = len(set().union(*matched)) / whole
    for past, present in default_predicates().past.items():
        if is_earlier and present in found:
            found[past] = max(found.get(past, 0), found[present])
            found[present] *= _PAST
        elif 0 < found.get(past, 0) <= found.get(present, 0):
            found[past] *= _PAST
    return found if _NEGATIONS.isdisjoint(words) else dict(_opposites(found))


def _opposites(found: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """The predicates that a query with *not* asks for, instead of those that its words ask for."""
    opposites = default_predicates().opposites
    for name, share in sorted(found.items(), key=itemgetter(1)):
        yield from ((other, share) for other in opposites.get(name, (name,)))


def named_predicates(words: Sequence[str]) -> frozenset[str]:
    """The predicates that words may name literally, beside the defaults: each word, and each two in a row."""
    terms = [word.lower() for word in words if word.isalnum()]
    pairs = (f"{first}_{second}" for first, second in pairwise(terms))
    return frozenset({*terms, *pairs} - default_predicates().by_name.keys())


def query_interval(
    period: tuple[datetime, datetime] | None, predicates: Collection[str], *, now: datetime
) -> Interval | None:
    """The past period of a query that asks for a state, such as where somebody worked.

    A query for an event needs none: the event itself has the date.

    Args:
        period: Its start, and its end, which is exclusive.
        predicates: What the query asks for.
        now: When the query is asked.
    """
    if period is None or period[1] > now or default_predicates().states.isdisjoint(predicates):
        return None
    return Interval(period[0], period[1] - timedelta(microseconds=1), frozenset(predicates))


def predicate_words(names: Collection[str]) -> frozenset[str]:
    """The words that ask for some predicates."""
    return frozenset().union(*(group for name in names for group in _defaults().get(name, ())))


def action_words(words: Collection[str], *, asks_for_work: bool = False) -> tuple[str, ...]:
    """The forms of *do* that make *like* a verb, which have no other meaning, and what stands for *do* where that means work."""
    verbs = _verbs_with_like()
    found = tuple(word for word in words if word.casefold() in verbs)
    return (*found, _WORK) if asks_for_work else found


def query_tags(words: Collection[str]) -> frozenset[str]:
    """The tags that words may name, in the singular."""
    return frozenset(parts[0] for word in words if len(parts := terms_of(word)) == 1)


def query_entry_types(words: Collection[str]) -> frozenset[str]:
    """The types of entries that words ask for, as tags."""
    terms = query_tags(words)
    return frozenset(
        f"type:{name}"
        for one in read_word_lists(_FILE, _Words).values()
        for name, words_of_type in one.entry_types.items()
        if not terms.isdisjoint(words_of_type)
    )


def touched_predicates(words: Collection[str], *, number: int) -> frozenset[str]:
    """The predicates that at least half of the query touches, such as the food that somebody eats.

    Facts of other people with these predicates do not answer it.
    """
    terms = _terms(words)
    least = max(number, len(terms), 1) / 2
    return frozenset(
        name
        for name, groups in _named_by_any(terms)
        if len(terms & frozenset().union(*groups)) >= least
    )


def related_predicates(words: Collection[str], *, number: int) -> frozenset[str]:
    """The touched predicates that the query may ask for: with *where*, those that have a place."""
    touched = touched_predicates(words, number=number)
    return touched - default_predicates().without_place if _asks_for_place(words) else touched


def _matching(
    terms: Collection[str], words: Collection[str], known: Collection[str] = ()
) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """The predicates that a query has a word of, each with the words that ask for it."""
    without_place = default_predicates().without_place if _asks_for_place(words) else ()
    for name, groups in _named_by_any(terms, known):
        if name not in without_place:
            yield name, groups


def _named_by_any(
    terms: Collection[str], known: Collection[str] = ()
) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    for name in {*known}.union(*(_named_by().get(term, ()) for term in terms)):
        yield name, _defaults().get(name) or _groups(name)


def _asks_for_place(words: Collection[str]) -> bool:
    return "where" in {word.casefold() for word in words}


def _terms(words: Collection[str]) -> set[str]:
    """The terms of words. *Like* counts only as a verb, as in *does like*."""
    terms = set(terms_of(" ".join(words)))
    folded = {word.casefold() for word in words}
    is_liked = "like" in folded and not folded.isdisjoint(_verbs_with_like())
    return terms or ({_LIKING} if is_liked else set())


@cache
def _defaults() -> Mapping[str, tuple[frozenset[str], ...]]:
    return MappingProxyType(
        {name: _groups(name) for name in {*default_predicates().by_name, *_asking()}}
    )


@cache
def _named_by() -> Mapping[str, Collection[str]]:
    """The predicates by each word that asks for them."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, groups in _defaults().items():
        for word in frozenset().union(*groups):
            found[word].append(name)
    return MappingProxyType(found)


def _groups(name: str) -> tuple[frozenset[str], ...]:
    """Groups of words, of each of which a query needs one: for a favourite film both *favourite* and *film*."""
    first, _, kind = name.partition("_")
    also = terms_of(" ".join(_asking().get(name, ())))
    if first == "favourite":
        return frozenset({"favourite", "favorite"}), frozenset({*terms_of(kind), *also})
    return (frozenset({*terms_of(name.replace("_", " ")), *also}),)


@cache
def _asking() -> Mapping[str, Sequence[str]]:
    """The words that ask for each predicate, of all languages."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in read_word_lists(_FILE, _Words).values():
        for name, words in one.predicates.items():
            found[name] += words
    return MappingProxyType(found)


def _verbs_with_like() -> frozenset[str]:
    """The verbs beside which *like* is a verb as well."""
    lists = read_word_lists(_FILE, _Words).values()
    return frozenset().union(*(one.verbs_with_like for one in lists))


class _Words(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    verbs_with_like: frozenset[str]
    predicates: dict[str, tuple[str, ...]]
    entry_types: dict[str, tuple[str, ...]]
