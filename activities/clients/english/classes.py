"""Classes of values: whether a word can be the object of a fact, such as a place, a job or a taste.

It stands apart from the words of values because a slot of a frame names a class, and nothing else decides it.
"""

import re
from collections.abc import Callable, Mapping

from spacy.tokens import Token

from mnestic.activities.clients.english.lexicon import Lexicon
from mnestic.activities.clients.english.trees import children, lemma
from mnestic.activities.clients.english.values import Values
from mnestic.memory.language.numbers import number_words

_TIMES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_THINGS = frozenset({"NOUN", "PROPN", "VERB", "ADJ"})
_NO_EMPLOYERS = frozenset({"PERSON", "GPE", "EVENT"})
_PLACES = frozenset({"ORG", "FAC", "GPE", "LOC"})
_ADDRESSES = frozenset({"email", "phone", "zone"})
_DOERS = ("er", "or", "ist", "ian")
_OLDEST = 125
_LONGEST_WORDS = 8


class ValueClasses:
    """Which words belong to which class, in one message."""

    def __init__(self, values: Values, lexicon: Lexicon) -> None:
        self._values, self._lexicon = values, lexicon
        self._grammar, self._classes = lexicon.grammar, lexicon.classes
        self._job = re.compile(lexicon.frames.job_endings)
        self._checks: Mapping[str, Callable[[Token], bool]] = {
            "name": self._is_name,
            "place": self._is_place,
            "city": lambda token: self._is_place(token) and token.ent_type_ == "GPE",
            "org": lambda token: self._is_name(token) or self.is_of(token, "organisation"),
            "employer": self._is_employer,
            "workplace": self._is_workplace,
            "school": lambda token: self._is_name(token) and token.ent_type_ != "PERSON",
            "person": self.is_person_name,
            "alias": lambda token: self.is_person_name(token) and token.ent_type_ not in _PLACES,
            "number": self._is_age,
            "figure": self._is_figure,
            "zone": lambda token: values.kind_of(token) == "zone",
            "pronouns": lambda token: values.kind_of(token) == "pronouns",
            "phone": lambda token: values.kind_of(token) == "phone",
            "address": lambda token: values.kind_of(token) == "email",
            "job": self._is_job,
            "role": self._is_role,
            "post": lambda token: self._is_job(token) or token.lower_ in self._classes["post"],
            "thing": self._is_thing,
            "field": self._is_field,
            "subject": lambda token: self._is_thing(token) and not children(token, "det", "poss"),
            "craft": lambda token: self._is_field(token) or token.tag_ == "VBG",
            "taste": self._is_taste,
            "distaste": self._is_distaste,
            "allergen": self._is_allergen,
            "beverage": lambda token: self._is_or_has(token, "drink"),
            "edible": lambda token: self._is_or_has(token, "food"),
            "play": lambda token: self._is_any(token, "instrument", "sport"),
            "learnable": lambda token: self._is_any(token, "instrument", "language"),
            "hobby": lambda token: self._is_any(token, "activity", "exercise", "sport"),
            "activity": lambda token: (
                self._is_any(token, "activity", "exercise") or token.tag_ == "VBG"
            ),
            "owned": lambda token: self.is_of(token, "owned") and not self._points(token),
            "possession": self._is_possession,
            "drivable": self._is_drivable,
            "pet": lambda token: self.is_of(token, "pet") and not self._is_toy(token),
            "plural": lambda token: self._is_thing(token) and token.tag_ == "NNS",
            "clause": lambda token: token.pos_ in {"VERB", "AUX"},
            "date": values.is_date,
        }

    def fits(self, token: Token, word_class: str) -> bool:
        """Whether a token can be an object of a class."""
        if word_class not in {"number", "figure", "date"} and self._values.is_date(token):
            return False
        check = self._checks.get(word_class)
        return check(token) if check else self.is_of(token, word_class)

    def is_of(self, token: Token, word_class: str) -> bool:
        """Whether a word, or a word with the one before it, is among the words of a class."""
        words = self._classes[word_class]
        parts = children(token, "compound", "amod", "punct")
        before = "".join(child.lower_ for child in parts if child.i < token.i)
        joined = {f"{before}{token.lower_}", f"{before}-{token.lower_}"}
        return not words.isdisjoint({token.lower_, lemma(token)} | joined)

    def is_person_name(self, token: Token) -> bool:
        """Whether a token can be the name of somebody."""
        if token.pos_ != "PROPN" or not token.text[:1].isupper():
            return False
        is_other = token.ent_type_ in _TIMES | {"NORP", "LANGUAGE"}
        is_other = is_other or token.lower_ in self._classes["no_name"]
        is_other = is_other or bool(self._values.kind_of(token)) or self._values.is_date(token)
        return not is_other and not children(token, "det", "nummod")

    def is_address(self, token: Token) -> bool:
        """Whether a token stands for an address, a number or a time zone."""
        return self._values.kind_of(token) in _ADDRESSES

    def amount_of(self, token: Token, word_class: str) -> Token | None:
        """What there is an amount of, as in "three cups of coffee"."""
        for preposition in children(token, "prep"):
            for each in preposition.children:
                if preposition.lower_ == "of" and self.is_of(each, word_class):
                    return each
        return None

    def _is_any(self, token: Token, *word_classes: str) -> bool:
        return any(self.is_of(token, each) for each in word_classes)

    def _is_or_has(self, token: Token, word_class: str) -> bool:
        return self.is_of(token, word_class) or self.amount_of(token, word_class) is not None

    def _is_name(self, token: Token) -> bool:
        is_capital = token.text[:1].isupper() or token.pos_ == "PROPN" or self._is_small_name(token)
        is_of_name = any(child.pos_ == "PROPN" for child in children(token, "compound"))
        is_capital = is_capital or (is_of_name and self.is_of(token, "organisation"))
        is_other = token.pos_ in {"PRON", "DET", "ADP"} or token.lower_ in self._classes["no_name"]
        return is_capital and not is_other

    def _is_small_name(self, token: Token) -> bool:
        """Whether a noun is a name in a message without capitals: "i started at globex"."""
        return token.dep_ == "pobj" and self._is_bare(token)

    def _is_bare(self, token: Token) -> bool:
        """Whether a noun without capitals can be a name, in a message that has none."""
        is_bare = token.tag_ == "NN" and not children(token, "det", "poss", "amod", "nummod")
        is_small = is_bare and token.lower_ not in self._classes["bare"]
        return is_small and self._values.is_without_capitals

    def _is_place(self, token: Token) -> bool:
        is_capital = token.ent_type_ == "GPE" and token.text[:1].isupper()
        if not (token.pos_ == "PROPN" or is_capital) or token.ent_type_ in _TIMES:
            return False
        is_other = token.lower_ in self._classes["no_name"] | self._classes["nowhere"]
        is_house = any(child.is_digit for child in children(token, "nummod"))
        return not is_other and not is_house and not self.is_address(token)

    def _is_employer(self, token: Token) -> bool:
        return self._is_name(token) and token.ent_type_ not in _NO_EMPLOYERS

    def _is_workplace(self, token: Token) -> bool:
        """What somebody may leave for good: a firm, and no umbrella."""
        is_firm = self._is_name(token) or self.is_of(token, "organisation")
        return is_firm or self._is_bare(token)

    def _is_age(self, token: Token) -> bool:
        """Whether it is a number of years: a whole one, and not of something that is measured."""
        low = self._values.number(token)
        value = int(low) if low.isdecimal() else number_words().cardinals.get(low, 0)
        is_measured = any(child.pos_ == "NOUN" for child in token.children)
        after = self._values.word_after(token)
        return 0 < value <= _OLDEST and not is_measured and after not in self._grammar.units

    def _is_figure(self, token: Token) -> bool:
        """Whether it is a number, or an amount of something: "2.2", "9 pounds"."""
        return self._values.text(token)[:1].isdigit()

    def _is_job(self, token: Token) -> bool:
        if token.pos_ not in _THINGS or token.tag_ in {"NNS", "NNPS"}:
            return False
        if any(child.lower_ in self._classes["judged"] for child in token.children):
            return False
        followers = [child for child in children(token, "prep") if child.lower_ == "of"]
        inside = [each for child in followers for each in child.children]
        if any(each.pos_ == "PRON" or children(each, "poss") for each in inside):
            return False
        if self._values.kind_of(token) == "kin":
            return False
        is_known = self.is_of(token, "job") or bool(self._job.search(token.lower_))
        is_head = token.lower_ in self._classes["post"] and bool(inside)
        return is_known or is_head or self._values.kind_of(token) == "post"

    def _is_role(self, token: Token) -> bool:
        """What somebody works as: also a profession that no list knows, by how it ends."""
        is_one = token.tag_ == "NN" and any(child.lower_ in {"a", "an"} for child in token.children)
        is_doer = token.lower_.endswith(_DOERS) and token.lower_ not in self._classes["no_role"]
        return self._is_job(token) or (is_one and is_doer)

    def _is_thing(self, token: Token) -> bool:
        if token.pos_ not in _THINGS or token.lower_ in self._grammar.mask_value:
            return False
        is_vague = lemma(token) in self._grammar.vague
        return not is_vague and len(self._values.text(token).split()) <= _LONGEST_WORDS

    def _is_field(self, token: Token) -> bool:
        """A field of study or a craft: "architecture", "marine biology", no "characters"."""
        if not self._is_thing(token) or token.pos_ not in _NOUNS:
            return False
        is_one = token.tag_ in {"NN", "NNP"} or token.lower_.endswith("ics")
        return is_one and not children(token, "det", "poss", "nummod")

    def _is_allergen(self, token: Token) -> bool:
        is_none = {token.lower_, lemma(token)} & self._classes["no_allergen"]
        is_degree = token.lower_ in self._grammar.dropped_modifiers
        return self._is_thing(token) and not is_none and not is_degree

    def _is_possession(self, token: Token) -> bool:
        has_the = any(child.lower_ in self._grammar.definite for child in token.children)
        is_others = any(
            each.lower_ not in self._grammar.articles for each in children(token, "poss")
        )
        is_thing = self._is_thing(token) and not self._points(token) and not is_others
        return is_thing and (token.pos_ == "PROPN" or not has_the)

    def _is_drivable(self, token: Token) -> bool:
        is_known = token.pos_ == "PROPN" or self.is_of(token, "vehicle")
        return is_known and self._is_possession(token)

    def _is_toy(self, token: Token) -> bool:
        return any(child.lower_ in self._classes["toy"] for child in token.subtree)

    def _points(self, token: Token) -> bool:
        return any(child.lower_ in self._grammar.pointing for child in token.children)

    def _is_taste(self, token: Token) -> bool:
        """What somebody can like for good: no "the colours", no "your idea", no person."""
        if token.pos_ == "VERB":
            return self._is_deed(token)
        if not self._is_thing(token) or token.pos_ == "ADJ" or self._is_definite(token):
            return False
        before = children(token, "compound", "poss", "amod", "nmod")
        words = {word for each in before for word in (each.lower_, lemma(each))}
        is_vague = words & (self._grammar.mask_value | self._grammar.vague)
        is_someone = token.ent_type_ == "PERSON" and not self._values.kind_of(token)
        is_someone = is_someone and token.pos_ == "PROPN"
        is_someone = is_someone or lemma(token) in self._grammar.kin_of or self._is_anothers(token)
        is_chore = lemma(token) in self._classes["no_pleasure"]
        return not (is_vague or is_someone or is_chore or children(token, "relcl", "acl"))

    def _is_anothers(self, token: Token) -> bool:
        """Whether a list goes on with what somebody else likes: "I like apples, Tom pears"."""
        names = [each for each in children(token, "compound") if self.is_person_name(each)]
        is_in_list = token.dep_ in {"conj", "appos"} and token.tag_ == "NNS"
        return is_in_list and any(each.ent_type_ == "PERSON" for each in names)

    def _is_distaste(self, token: Token) -> bool:
        """What somebody can dislike; more deeds are disliked than liked for good."""
        is_deed = token.tag_ == "VBG" and lemma(token) not in {"be", "have"}
        return self._is_taste(token) or (is_deed and not children(token, "neg", "aux", "nsubj"))

    def _is_definite(self, token: Token) -> bool:
        """Whether it is a certain thing, and no kind of things; in a list, as the first of it is."""
        first = token
        while first.dep_ == "conj" and first.head.pos_ in _NOUNS:
            first = first.head
        for each in {token, first}:
            has_the = any(child.lower_ in self._grammar.definite for child in each.children)
            if self._points(each) or (has_the and token.pos_ != "PROPN"):
                return True
        return False

    def _is_deed(self, verb: Token) -> bool:
        """A verb of doing, as in "I love hiking": with no subject of its own, nor anybody else in it."""
        if verb.tag_ not in {"VBG", "VB"} or children(verb, "nsubj", "nsubjpass"):
            return False
        grammar = self._grammar
        is_known = self.is_of(verb, "activity") or lemma(verb) in grammar.bare_pastimes
        is_known = is_known or (lemma(verb) in grammar.pastimes and bool(children(verb, "dobj")))
        others = grammar.mask_value | grammar.pointing
        ends_well = self._values.last(verb).pos_ in {"NOUN", "PROPN", "VERB"}
        return is_known and ends_well and not any(each.lower_ in others for each in verb.subtree)
