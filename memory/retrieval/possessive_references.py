"""Possessive references: people whom a query names by somebody else, such as *Marcus's sister*.

Facts about such people are stored under that name, since their own may be unknown. They stand apart from names, because
here one phrase names two people.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.subjects import USER
from mnestic.memory.language.described_names import (
    find_described_names,
    is_described,
    is_first_person,
)
from mnestic.memory.language.function_words import stop_words
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.retrieval.query_parsing import NameMatch, QueryWord
from mnestic.memory.retrieval.search import ResolvedTerms

_FILE = Path(__file__).with_name("kinship.yaml")
_LONGEST = 2  # words, as of a younger sister


class PossessiveReference(NamedTuple):
    """A person whom a query names by somebody else.

    `owners` are the keys that the other person may have, and `keys` are those that the relative may have. `word` is the
    word of the relation, `nouns` are its synonyms, and `predicate` is the predicate of kinship, if it is kinship.
    """

    owners: frozenset[str]
    keys: frozenset[str]
    word: str
    nouns: frozenset[str]
    predicate: str | None

    @property
    def of_kin(self) -> str:
        """The predicate of facts about the relation; what is no kin may be a pet."""
        return self.predicate or "pet"

    def called(self, name: str) -> frozenset[str]:
        """The keys of the relative by name; namesakes are distinguished by their owner."""
        return frozenset({name}) | self.described(name)

    def described(self, name: str) -> frozenset[str]:
        """The keys that tell the relative apart from namesakes."""
        return frozenset(
            name_key(f"{name} ({noun} of {owner})") for owner in self.owners for noun in self.nouns
        )


def find_possessive_references(words: tuple[QueryWord, ...]) -> Iterator[PossessiveReference]:
    """The references in a query: a possible name with a noun after it, or before *of*."""
    for place, word in enumerate(words):
        if not word.may_name:
            continue
        first = place
        while first and words[first - 1].is_capital and word.is_capital:
            first -= 1  # Tom Hale's sister
        owners = {
            name_key(" ".join(each.text for each in words[at : place + 1]))
            for at in range(first, place + 1)
        }
        if word.is_owner:
            for end in range(place + 2, min(place + 1 + _LONGEST, len(words)) + 1):
                called, after = words[place + 1 : end], words[end : end + 1]
                if not any(each.is_owner for each in called[:-1]) and not (
                    called[-1].is_owner and _are_kin(after)  # theirs are asked for
                ):
                    yield _relative(owners, called)
        elif first > 1 and words[first - 1].text == "of":
            yield _relative(owners, words[first - 2 : first - 1])


def own_relatives(text: str) -> frozenset[str]:
    """The beginnings of the keys of those whom a text calls the speaker's own, as in "my brother Otto"."""
    found = find_described_names(text, speaker="")
    return frozenset(name_key(one.subject) + " " for one in found if one.reference.startswith("'"))


def names_of_user(words: Sequence[QueryWord], known: ResolvedTerms) -> frozenset[str]:
    """The names of the agent's user, if the query speaks in the first person and somebody speaks as the user."""
    user = known.names.get(USER)
    is_own = user is not None and user.is_speaker and is_first_person(word.text for word in words)
    return user.keys if user is not None and is_own else frozenset()


def with_own_relative(names: frozenset[str], known: ResolvedTerms) -> frozenset[str]:
    """The names, with the one whom the query calls the asker's own; alone, if facts tell this one apart from namesakes."""
    if len(known.own_relatives) != 1:
        return names
    ((own, has_facts),) = known.own_relatives.items()
    return frozenset({own}) if has_facts else names | {own}


def with_origins(named: NameMatch, words: Sequence[QueryWord]) -> NameMatch:
    """The names, with the origins that describe them among the words too: *logistics* of *Otto from logistics*."""
    described = (name.split() for name in named.names if is_described(name, name=name.split()[0]))
    origins = {word for name in described for word in name[1:]} - {*stop_words()}
    more = (word.text for word in words if name_key(word.text) in origins)
    return named._replace(words=(*named.words, *more))


def subjects_of_relatives(
    related: Sequence[PossessiveReference], known: ResolvedTerms
) -> frozenset[str]:
    """The names whose facts the query asks for, if it names relatives: by their relation or by their own names."""
    owners = frozenset().union(*(one.owners for one in related)) & known.names.keys()
    keys: frozenset[str] = frozenset().union(*(one.keys for one in related)) & known.names.keys()
    for one in related:
        for owner, predicate, name in known.related:
            if owner in owners and predicate == one.of_kin:
                described = one.described(name) & known.described.keys()
                if any(known.described[key] for key in described):
                    keys |= described
                elif one.predicate or described:
                    keys |= one.called(name)
    return keys


def _are_kin(words: Sequence[QueryWord]) -> bool:
    return any(word.text.casefold() in _called() for word in words)


def _relative(owners: set[str], called: tuple[QueryWord, ...]) -> PossessiveReference:
    *before, noun = (word.text.casefold() for word in called)
    predicate, nouns = _called().get(noun, (None, frozenset({noun})))
    keys = frozenset(
        " ".join((f"{owner}'s", *some, one))
        for owner in owners
        for one in nouns
        for some in (before, ())
    )
    return PossessiveReference(frozenset(owners), keys, called[-1].text, nouns, predicate)


@cache
def _called() -> Mapping[str, tuple[str, frozenset[str]]]:
    """The predicate of kinship, and all words that mean the same, by each word."""
    return {
        word: (predicate, frozenset(same))
        for by_predicate in read_word_lists(_FILE, dict[str, list[list[str]]]).values()
        for predicate, groups in by_predicate.items()
        for same in groups
        for word in same
    }
