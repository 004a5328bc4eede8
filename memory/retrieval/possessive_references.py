"""Relatives: what questions call by somebody else, such as *Marcus's sister* or *the dog of Marcus*.

What is believed of them is kept under such a name, as their own may not be known. They stand apart from names, of
which a question's words are part; here one word names two.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.retrieval.query_parsing import QueryWord

# By the predicates that tell who they are; words between bars are for the same one.
_KIN = {
    "sibling": "sister|brother|sibling|twin|half-sister|half-brother|stepsister|stepbrother",
    "parent": "mother mum mom mam mummy mommy|father dad daddy papa|stepmother|stepfather",
    "child": "daughter|son|kid child|stepdaughter|stepson",
    "married_to": "wife|husband|spouse",
    "engaged_to": "fiancé fiance|fiancée fiancee",
    "partner": "partner girlfriend|boyfriend",
    "cousin": "cousin",
    "aunt_or_uncle": "aunt auntie aunty|uncle",
    "grandparent": "grandmother grandma granny gran nan nana|grandfather grandpa grandad granddad",
    "grandchild": "granddaughter|grandson",
    "niece_or_nephew": "niece|nephew",
    "in_law": "mother-in-law|father-in-law|sister-in-law|brother-in-law",
    "friend": "friend buddy pal mate",
    "colleague": "colleague coworker workmate",
    "team_leader": "boss manager supervisor",
    "lives_with": "flatmate roommate housemate",
    "neighbour": "neighbour neighbor",
}
_CALLED = {
    word: (predicate, frozenset(same.split()))
    for predicate, words in _KIN.items()
    for same in words.split("|")
    for word in same.split()
}
_LONGEST = 2  # words, as of a younger sister


class PossessiveReference(NamedTuple):
    """Somebody whom a question calls by somebody else.

    `owners` is who that may be, by key, and `keys` what the relative may be called by them; `word` is the word for
    what they are to them, `nouns` those that say the same, and `predicate` the one that tells who it is, if it is one
    of kin and the like.
    """

    owners: frozenset[str]
    keys: frozenset[str]
    word: str
    nouns: frozenset[str]
    predicate: str | None

    def called(self, name: str) -> frozenset[str]:
        """The keys of one who is believed to be it by name; namesakes are told apart by whose they are."""
        return frozenset({name}).union(
            name_key(f"{name} ({noun} of {owner})") for owner in self.owners for noun in self.nouns
        )


def find_possessive_references(words: tuple[QueryWord, ...]) -> Iterator[PossessiveReference]:
    """Those of a question; by the key of whom they are somebody's, and a noun after it or before *of*."""
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
                if not any(each.is_owner for each in words[place + 1 : end]):  # theirs is asked for
                    yield _relative(owners, words[place + 1 : end])
        elif first > 1 and words[first - 1].text == "of":
            yield _relative(owners, words[first - 2 : first - 1])


def _relative(owners: set[str], called: tuple[QueryWord, ...]) -> PossessiveReference:
    *before, noun = (word.text.casefold() for word in called)
    predicate, nouns = _CALLED.get(noun, (None, frozenset({noun})))
    keys = frozenset(
        " ".join((f"{owner}'s", *some, one))
        for owner in owners
        for one in nouns
        for some in (before, ())
    )
    return PossessiveReference(frozenset(owners), keys, called[-1].text, nouns, predicate)
