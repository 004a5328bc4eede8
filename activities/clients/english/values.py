"""Values: the words of a message that are the object of a fact, and of which kind they are.

A wrongly cut object is the most frequent mistake: it is cut at words, never inside one.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.parsing import Parsed
from mnestic.activities.clients.english.trees import children, following, is_misread, lemma
from mnestic.memory.language.numbers import number_words

_INSIDE = frozenset(
    {
        "compound",
        "amod",
        "nummod",
        "nmod",
        "quantmod",
        "flat",
        "poss",
        "case",
        "det",
        "advmod",
        "npadvmod",
        "punct",
        "prep",
        "pobj",
        "appos",
    }
)
_HYPHENS = frozenset({"-", "/", "'", "&", "'s"})
_NOUNS = frozenset({"NOUN", "PROPN", "NUM", "X"})
_OTHER_ENTITIES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "CARDINAL", "ORDINAL"})
_PARTICLES = frozenset({"in", "at", "near", "for", "with", "from", "on", "to", "about"})
_WEEKDAYS = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?")
_OLDEST = 125
_LONGEST_WORDS = 8
_FEWEST_DIGITS = 3


class ObjectReader:
    """Objects out of one parsed message."""

    def __init__(self, parsed: Parsed, lexicon: Lexicon) -> None:
        self._parsed, self._lexicon = parsed, lexicon
        self._dated = {place for date in parsed.dates for place in range(date.start, date.end)}

    def is_date(self, token: Token) -> bool:
        """Whether a token is part of a date or a time of day."""
        if token.idx in self._dated or _WEEKDAYS.fullmatch(token.lower_):
            return True
        is_number = token.pos_ == "NUM" or any(map(str.isdigit, token.text))
        may_be_time = is_number or lemma(token) in self._lexicon.times
        return may_be_time and self._parsed.entity_type(token) == "TIME"

    def is_code(self, token: Token) -> bool:
        """Whether a word is a number or a code, and no amount or date: "4471", "B-12"."""
        text, kind = token.text, self._parsed.kind_of(token)
        has_digits = sum(map(str.isdigit, text)) >= _FEWEST_DIGITS or (
            text.isalnum() and not text.isalpha() and not text.isdigit()
        )
        return kind in {"code", "phone", "email", "url"} or (has_digits and not self.is_date(token))

    def text(self, token: Token, *, with_phrase: bool = False) -> str:
        """The words of an object as they were written, without what only leads up to it."""
        first, last = self.ends(token, with_phrase=with_phrase)
        text = self._parsed.text(first, last)
        words = text.split()
        while len(words) > 1 and words[-1].lower() in self._lexicon.trailing:
            text = text[: -len(words.pop())].rstrip(" ,;:")
        return text

    def ends(self, token: Token, *, with_phrase: bool = False) -> tuple[Token, Token]:
        """The first and the last token of an object."""
        doc = token.doc
        inside = {token.i, *(each.i for each in self._parts(token, with_phrase=with_phrase))}
        first = last = token.i
        while first - 1 in inside:
            first -= 1
        while last + 1 in inside:
            last += 1
        while first < token.i and self._is_leading(doc[first]):
            first += 1
        while last > token.i and (doc[last].is_punct or self._is_owners_mark(doc[last], token)):
            last -= 1
        return doc[first], doc[last]

    def _is_owners_mark(self, token: Token, owner: Token) -> bool:
        return token.dep_ == "case" and owner.dep_ == "poss"

    def _parts(self, token: Token, *, with_phrase: bool) -> Iterator[Token]:
        for child in token.children:
            if not self._is_part(child, token, with_phrase=with_phrase):
                continue
            yield child
            yield from self._parts(child, with_phrase=with_phrase)

    def _is_part(self, child: Token, token: Token, *, with_phrase: bool) -> bool:
        if child.dep_ not in _INSIDE:
            return token.pos_ == "VERB" and child.dep_ == "dobj"
        if child.dep_ == "punct":
            return child.text in _HYPHENS
        if child.dep_ == "prep":
            is_phrase = (
                with_phrase
                and child.lower_ in _PARTICLES
                and not any(self.is_date(each) for each in child.children)
            )
            return child.i > token.i and (child.lower_ == "of" or is_phrase)
        if child.dep_ == "appos":
            return child.i == token.i + 1 and child.pos_ in {"PROPN", "NUM"}
        is_after = child.i > token.i and child.dep_ in {"advmod", "npadvmod"}
        return not is_after and (
            child.dep_ in {"compound", "nummod", "nmod"} or not self.is_date(child)
        )

    def _is_leading(self, token: Token) -> bool:
        """Whether a first word only leads up to the object: an article, "my", "new"."""
        if (
            token.text.istitle()
            and not token.is_sent_start
            and token.nbor().pos_ == "PROPN"
            and token.pos_ != "PRON"
        ):
            return False  # of a name: "The Killers", "New Plymouth"
        is_word = token.lower_ in self._lexicon.dropped or token.dep_ in {"det", "advmod", "punct"}
        return is_word or (token.pos_ in {"DET", "PRON"} and token.dep_ in {"poss", "predet"})

    def is_name(self, token: Token) -> bool:
        """Whether a word is a name: by its capital, or a bare noun in a message of small letters."""
        if (
            token.pos_ in {"PRON", "DET", "ADP", "ADV"}
            or self.is_date(token)
            or self._parsed.entity_type(token) in {"DATE", "TIME"}
        ):
            return False
        kind = self._parsed.kind_of(token)
        is_capital = token.text[:1].isupper() and (token.pos_ == "PROPN" or not token.is_sent_start)
        has_name = any(child.pos_ == "PROPN" for child in children(token, "compound"))
        return (
            kind in {"name", "code"}
            or (is_capital and not kind)
            or has_name
            or self._is_small_name(token)
        )

    def _is_small_name(self, token: Token) -> bool:
        is_bare = token.tag_ in {"NN", "NNP", "NNS", "FW"} and not children(
            token, "det", "poss", "nummod"
        )
        return (
            is_bare
            and self._parsed.is_small
            and token.lower_ not in self._lexicon.vague
            and not token.is_stop
        )

    def is_thing(self, token: Token) -> bool:
        """Whether a word names a thing that a fact can be about, and nothing vague."""
        words = {token.lower_, lemma(token)}
        is_noun = token.pos_ in _NOUNS or token.tag_ == "VBG" or bool(self._parsed.kind_of(token))
        is_noun = is_noun or (token.dep_ == "xcomp" and is_misread(token))
        is_noun = is_noun or (token.pos_ == "ADJ" and bool(children(token, "det")))
        if (
            not is_noun
            or self.is_date(token)
            or any(self._points(child) for child in token.children)
        ):
            return False
        if words & self._lexicon.vague:
            return bool(children(token, "prep", "compound"))
        return len(self.text(token).split()) <= _LONGEST_WORDS and any(map(str.isalnum, token.text))

    def _points(self, token: Token) -> bool:
        return (
            token.dep_ in {"det", "poss", "advmod", "predet"}
            and token.lower_ in self._lexicon.pointing
        )

    def fits(self, token: Token, kind: str) -> Token | None:
        """The token of a kind that a word stands for: "Porto" of "a flat in Porto" as a place; None for none."""
        if kind == "place" and not self._is_place(token):
            inner = [each for each in following(token, "in", "near", "at") if self._is_place(each)]
            return inner[0] if inner and token.pos_ == "NOUN" else None
        checks: Mapping[str, Callable[[Token], bool]] = {
            "": self.is_thing,
            "place": self._is_place,
            "name": self.is_name,
            "body": lambda one: self.is_name(one) or self._is_body(one),
            "person": self._is_person,
            "number": lambda one: self.number(one) != "",
            "figure": lambda one: one.text[:1].isdigit(),
            "date": self.is_date,
            "language": lambda one: one.pos_ in _NOUNS | {"ADJ"} and self.text(one).isalpha(),
            "job": self.is_job,
            "diet": lambda one: (
                one.lower_ in self._lexicon.diets or self.text(one).lower() in self._lexicon.diets
            ),
        }
        check = checks.get(kind)
        is_kind = check(token) if check else self._parsed.kind_of(token) == kind
        return token if is_kind else None

    def _is_place(self, token: Token) -> bool:
        others = _OTHER_ENTITIES | {"LANGUAGE", "NORP"}
        is_other = self._parsed.kind_of(token) not in {"", "name"}
        is_other = is_other or self._parsed.entity_type(token) in others
        return self.is_name(token) and not is_other and token.lower_ not in self._lexicon.no_places

    def _is_person(self, token: Token) -> bool:
        is_people = token.pos_ == "ADJ" and token.text[:1].isupper()
        is_people = is_people or self._parsed.entity_type(token) == "NORP"
        return self.is_name(token) and not is_people and not children(token, "nummod")

    def _is_body(self, token: Token) -> bool:
        """A firm or a school without a name: "a bakery", "the airport in Doha"."""
        has_article = any(child.lower_ in {"a", "an", "the"} for child in token.children)
        return token.pos_ == "NOUN" and has_article and self.is_thing(token)

    def number(self, token: Token) -> str:
        """A number of years in figures; "" for none, and for what is measured."""
        text, low = token.text, token.lower_
        after = token.nbor() if token.i + 1 < len(token.doc) else None
        if after is not None and (after.lower_ in self._lexicon.units or after.text in {"%", "/"}):
            return ""
        if token.i and token.nbor(-1).text == "-" and token.i > 1:
            low = f"{token.nbor(-2).lower_}-{low}"
        value = (
            int(text)
            if text.isdecimal()
            else number_words().cardinals.get(low, 0)
            if low != "one"
            else 0
        )
        return str(value) if 0 < value <= _OLDEST else ""

    def is_job(self, token: Token) -> bool:
        """Whether a noun says what somebody does for a living, by how such nouns end."""
        low = lemma(token) if token.tag_ != "NN" else token.lower_
        if (
            token.pos_ not in _NOUNS
            or token.tag_ in {"NNS", "NNPS"}
            or low in self._lexicon.no_jobs
        ):
            return False
        is_known = low in self._lexicon.jobs or self._lexicon.job_ending.fullmatch(low) is not None
        return is_known and not any(
            child.pos_ == "PRON" for prep in children(token, "prep") for child in prep.subtree
        )
