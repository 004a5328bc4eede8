"""Phrases: a verb with the words that belong to it, such as "call off X", "lose taste for X", "give whom sack".

They stand apart from frames because most of their words are fixed, and what is said of particles, articles and the
passive holds for all of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from spacy.tokens import Token

from mnestic.activities.clients.english.trees import children, lemma, subjects

THING, WHOM, SOMEONE = "X", "whom", "someone"
_PARTICLES = frozenset({"off", "up", "out", "in", "away", "down", "over", "behind"})
_SKIPPED = frozenset({"det", "poss", "advmod", "predet", "case", "neg"})
_BEFORE_NOUN = frozenset({"det", "poss", "amod", "compound", "nummod", "nmod", "predet", "advmod"})
_ONE_OF_MANY = frozenset({"a", "an", "any", "some", "this", "that", "another", "no"})
_NARROWING = frozenset({"relcl", "acl"})
_PLURALS = frozenset({"NNS", "NNPS"})
_HEADS = frozenset({"NOUN", "PROPN", "VERB", "PRON", "ADJ"})
_PLACES = frozenset({THING, WHOM, SOMEONE})
_DIRECT = _PARTICLES | {THING, WHOM}


class Phrase(NamedTuple):
    """The words of a phrase, lemmas but for the places of what it is about."""

    words: tuple[str, ...]

    @property
    def verb(self) -> str:
        """The lemma of its verb."""
        return self.words[1] if self.words[0] == THING else self.words[0]

    @property
    def fixed(self) -> int:
        """How many of its words are no places."""
        return sum(word not in _PLACES for word in self.words)


class Match(NamedTuple):
    """What stands in the places of a phrase, and the last of its tokens."""

    thing: Token | None
    whom: Token | None
    last: Token


def phrases_of(texts: Iterable[str], classes: Mapping[str, Sequence[str]]) -> tuple[Phrase, ...]:
    """The phrases that texts stand for, each class replaced by its own, and with the particle behind its object."""
    return tuple(
        dict.fromkeys(
            phrase
            for text in texts
            for plain in expanded(text, classes)
            for phrase in _orders(tuple(plain.split()))
        )
    )


def _orders(words: tuple[str, ...]) -> Iterator[Phrase]:
    """A phrase, and the same with its particle behind: "call off X", "call X off"."""
    yield Phrase(words)
    for place in range(1, len(words) - 1):
        if words[place] in _PARTICLES and words[place + 1] == THING:
            yield Phrase((*words[:place], THING, words[place], *words[place + 2 :]))


def expanded(text: str, classes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A text with each class in angle brackets replaced by each of its own."""
    parts = text.replace("<", "\0").replace(">", "\0").split("\0")
    choices = [classes[part] if place % 2 else (part,) for place, part in enumerate(parts)]
    yield from ("".join(each) for each in product(*choices))


def match(phrase: Phrase, verb: Token) -> Match | None:
    """What stands in the places of a phrase, if a verb with its clause says it."""
    words = phrase.words
    if words[0] == THING:
        return _with_subject(words, verb)
    passive = [lemma(each) for each in children(verb, "auxpass")]
    if passive and words[:2] == (passive[-1], lemma(verb)):  # "got rid of", "is fed up with"
        return _matched(words[2:], verb)
    if words[0] != lemma(verb):
        return None
    if not passive:
        return _matched(words[1:], verb)
    object_ = next((word for word in words[1:] if word in {THING, WHOM}), None)
    rest = list(words[1:])
    if object_ is None or rest.index(object_) > 1 or (len(rest) > 1 and rest[0] not in _DIRECT):
        return None
    rest.remove(object_)
    return _of_subject(tuple(rest), verb, object_)


def _with_subject(words: tuple[str, ...], verb: Token) -> Match | None:
    """A phrase whose first word is its subject: "X fall through"."""
    key = "be" if lemma(verb) != words[1] and children(verb, "auxpass") else lemma(verb)
    if words[1] != key:
        return None
    if key != lemma(verb):  # "has been finalised", where the verb is the complement
        return _of_subject((), verb, THING) if words[2:] == (lemma(verb),) else None
    return _of_subject(words[2:], verb, THING)


def _of_subject(rest: tuple[str, ...], verb: Token, place: str) -> Match | None:
    named = subjects(verb)
    found = _matched(rest, verb)
    if found is None or not named:
        return None
    return found._replace(**({"thing": named[0]} if place == THING else {"whom": named[0]}))


def _matched(words: Sequence[str], verb: Token) -> Match | None:
    """The words right behind a verb, but for what may stand between."""
    tokens = [token for token in verb.sent if token.i > verb.i]
    found: dict[str, Token] = {}
    place, last = 0, verb
    for number, word in enumerate(words):
        if word in _PLACES:
            following = words[number + 1 : number + 2]
            head = _object_at(tokens, place, following)
            if head is None:
                return None
            found[word], last = head, head
            place = _after(tokens, head, following)
            continue
        while place < len(tokens) and not _is(tokens[place], word) and _may_skip(tokens[place]):
            place += 1
        if place == len(tokens) or not _is(tokens[place], word):
            return None
        last = tokens[place]
        place += 1
    is_fixed = bool(words) and words[-1] not in _PLACES
    if is_fixed and not _is_whole(last, after=words[-2:-1]):
        return None
    return Match(found.get(THING), found.get(WHOM), last)


def _is(token: Token, word: str) -> bool:
    is_lemma = lemma(token) == word and token.tag_ not in _PLURALS
    return token.lower_ == word or is_lemma


def _may_skip(token: Token) -> bool:
    is_other = token.dep_ == "det" and token.lower_ in _ONE_OF_MANY
    return token.dep_ in _SKIPPED and not is_other and token.lower_ not in _PARTICLES


def _object_at(tokens: Sequence[Token], place: int, following: Sequence[str]) -> Token | None:
    """The head of the words that begin at a place, as "cello" of "the old cello", and "law" before "degree"."""
    while place < len(tokens) and tokens[place].dep_ == "advmod" and tokens[place].pos_ == "ADV":
        place += 1
    if place == len(tokens):
        return None
    head = tokens[place]
    while head.dep_ in _BEFORE_NOUN and head.head.i > head.i:
        if any(_is(head.head, word) for word in following):
            head = head.head.nbor(-1)
            break
        head = head.head
    return head if head.pos_ in _HEADS else None


def _after(tokens: Sequence[Token], head: Token, following: Sequence[str]) -> int:
    """The place behind an object and what belongs to it; the next word of the phrase does not."""
    inside = {
        head,
        *(each for child in children(head, "prep", "conj", "cc") for each in child.subtree),
    }
    place = tokens.index(head) + 1
    while place < len(tokens) and tokens[place] in inside:
        if any(_is(tokens[place], word) for word in following):
            break
        place += 1
    return place


def _is_whole(token: Token, *, after: Sequence[str]) -> bool:
    """Whether the last fixed word is no more than that: no "sack of flour", no particle before a place."""
    if token.lower_ in _PARTICLES and THING in after:
        return not list(token.children)
    is_narrowed = bool(children(token, *_NARROWING)) or any(
        child.lower_ == "of" for child in children(token, "prep")
    )
    return not is_narrowed
