"""Values: the words of a message that are the object of a fact.

It stands apart because a wrongly cut object is the most frequent mistake: it is cut at words, never inside one.
"""

import re
from collections.abc import Iterator
from functools import cache

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Grammar
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.trees import children
from mnestic.memory.language.numbers import number_words

_OUTSIDE = frozenset(
    {"relcl", "acl", "advcl", "cc", "conj", "punct", "appos", "ccomp", "parataxis", "dep", "intj"}
) | {"mark", "neg", "predet", "preconj", "aux"}
_ADVERBIAL = frozenset({"advmod", "npadvmod", "prt"})
_HYPHENS = frozenset({"-", "/", "'", "&"})
_LEADING = frozenset({"det", "poss", "predet", "punct", "case"})
_TITLE = re.compile(r":\s[A-Z][^.;!?\n]{0,60}")
_CAPITAL = re.compile(r"[A-Z](?!\b)|(?!I\b)[A-Z]")
_EDGES = " ,;:!'\"\n"


class Values:
    """Objects out of one parsed message."""

    def __init__(self, parsed: Parsed, grammar: Grammar) -> None:
        self._parsed, self._grammar = parsed, grammar
        self._dated = {place for date in parsed.dates for place in range(date.start, date.end)}

    @property
    def is_without_capitals(self) -> bool:
        """Whether the message is written in small letters alone, names included."""
        return not _CAPITAL.search(self._parsed.text)

    def kind_of(self, token: Token) -> str:
        """Whether a word stands for an address, a number, a post or a name; "" for most."""
        return self._parsed.kinds.get(token.idx, "")

    def is_date(self, token: Token) -> bool:
        """Whether a token is part of a date."""
        return token.idx in self._dated or token.ent_type_ == "TIME"

    def word(self, token: Token) -> str:
        """A word as the message writes it; it may have been parsed as another."""
        return _without_stop(self._parsed.text[token.idx : token.idx + len(token)])

    def word_after(self, token: Token) -> str:
        """The word after a token, in small letters."""
        rest = self._parsed.text[token.idx + len(token) :].split()[:1]
        return rest[0].lower().strip(".,;!?") if rest else ""

    def number(self, token: Token) -> str:
        """A number in small letters, with what a hyphen joins to it: "twenty-nine"; "" for none."""
        first = token
        while first.i > 1 and first.nbor(-1).text == "-" and first.nbor(-2).pos_ == "NUM":
            first = first.nbor(-2)
        found = _number().match(self._parsed.text, first.idx)
        return found[0].lower() if found else ""

    def text(self, token: Token, *, with_phrase: bool = False) -> str:
        """The words of an object, as they stand in the message; `with_phrase` with what follows its head."""
        first, last = self._ends(token, with_phrase=with_phrase)
        end = last.idx + len(last)
        title = _TITLE.match(self._parsed.text, end) if token.pos_ in {"PROPN", "NUM"} else None
        text = self._parsed.text[first.idx : title.end() if title else end]
        return _without_stop(self._without_trailing(text.strip(_EDGES)))

    def _without_trailing(self, text: str) -> str:
        """A value without the words behind it that only mark the sentence, such as "anymore"."""
        words = text.split()
        while len(words) > 1 and words[-1].lower() in self._grammar.trailing:
            text = text.removesuffix(words.pop()).rstrip(_EDGES)
        return text

    def last(self, token: Token) -> Token:
        """The last token of an object with what follows its head."""
        return self._ends(token, with_phrase=True)[1]

    def _ends(self, token: Token, *, with_phrase: bool) -> tuple[Token, Token]:
        """The first and the last token: the words right around the head, without what only leads up to it."""
        doc = token.doc
        inside = {token.i} | {each.i for each in self._parts(token, token, with_phrase=with_phrase)}
        first = last = token.i
        while first - 1 in inside and not self._is_line_end(doc[first - 1]):
            first -= 1
        while last + 1 in inside and not self._is_line_end(doc[last]):
            last += 1
        while first < token.i and self._is_dropped(doc[first]):
            first += 1
        return doc[first], _with_possessive(doc[last])

    def _is_line_end(self, token: Token) -> bool:
        return "\n" in self._parsed.text[token.idx + len(token) : token.nbor().idx]

    def _parts(self, token: Token, head: Token, *, with_phrase: bool) -> Iterator[Token]:
        for child in token.children:
            if self._is_part(child, token, head, with_phrase=with_phrase):
                yield child
                yield from self._parts(child, head, with_phrase=with_phrase)

    def _is_part(self, child: Token, token: Token, head: Token, *, with_phrase: bool) -> bool:
        if child.dep_ in _OUTSIDE:
            return child.dep_ == "punct" and child.text in _HYPHENS
        if child.dep_ == "prep":
            return self._is_inner(child, token, with_phrase=with_phrase)
        is_after = child.i > token.i and child.dep_ in _ADVERBIAL
        if is_after and (not with_phrase or head.pos_ != "VERB"):
            return False
        return child.dep_ in {"compound", "nummod"} or not self.is_date(child)

    def _is_inner(self, preposition: Token, token: Token, *, with_phrase: bool) -> bool:
        """Whether a preposition belongs to the object: "head of science", not "a job at Acme"."""
        if preposition.i < preposition.head.i:
            return False
        is_loose = preposition.lower_ in self._grammar.loose_prepositions and token.pos_ == "VERB"
        return preposition.lower_ == "of" or (with_phrase and not is_loose)

    def _is_dropped(self, token: Token) -> bool:
        """Whether a first word only leads up to the object: an article, "my", "new"."""
        grammar = self._grammar
        if token.text.istitle() and not token.is_sent_start and token.nbor().pos_ == "PROPN":
            return False  # of a name: "The Killers", "New Plymouth"
        if token.lower_ in grammar.articles | grammar.dropped_modifiers | grammar.pointing:
            return True
        is_leading = token.dep_ in _LEADING and token.pos_ in {"DET", "PRON", "PUNCT"}
        return is_leading or (token.dep_ == "advmod" and not token.nbor().text.startswith("-"))


def _without_stop(text: str) -> str:
    """A value without the full stop of its sentence; "R.E.M." has one of its own."""
    return text[:-1] if text.endswith(".") and text.count(".") == 1 else text


def _with_possessive(token: Token) -> Token:
    """The last token of a name that ends in 's, such as McDonald's, where no noun follows it."""
    if token.i + 1 >= len(token.doc) or token.dep_ == "poss":
        return token
    after = token.nbor()
    is_own = after.text == "'s" and after.dep_ == "case" and after in children(token, "case")
    return after if is_own else token


@cache
def _number() -> re.Pattern[str]:
    """A number in words or figures."""
    return re.compile(rf"(?:{number_words().cardinal})(?![\w-])(?![.,]\d)", re.IGNORECASE)
