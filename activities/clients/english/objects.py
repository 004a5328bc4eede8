"""Objects: what a token stands for in a fact, as facts of its class write it.

It stands apart from values because a class may write it otherwise than the message: "thirty-five" is 35.
"""

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import Reading
from mnestic.activities.clients.english.lexicon import Slot
from mnestic.activities.clients.english.trees import children
from mnestic.memory.language.numbers import number_words

_AMOUNTS = {"beverage": "drink", "edible": "food"}
_SPECIFIC = frozenset({"with", "without"})
_TASTES = frozenset({"taste", "distaste"})


def value_of(token: Token, slot: Slot, reading: Reading, *, is_whole: bool = False) -> str:
    """The object that a token stands for in a slot; "" for none.

    Args:
        token: It fits the class of the slot.
        slot: Where it stands.
        reading: The message.
        is_whole: With what follows its head: "interview at Tidal Atlas".
    """
    if slot.word_class == "number":
        low = reading.values.number(token)
        return low if low.isdecimal() else str(number_words().cardinals[low])
    if slot.word_class == "person":
        is_me = token.lower_ in reading.lexicon.grammar.first_person
        return reading.cast.speaker if is_me else reading.cast.full_name(token)
    if slot.word_class == "floor":
        return next((child.text for child in children(token, "amod")), "")
    if slot.word_class == "clause":
        return _clause_value(token, reading)
    return _words(token, slot, reading, is_whole=is_whole)


def _words(token: Token, slot: Slot, reading: Reading, *, is_whole: bool) -> str:
    amount = _AMOUNTS.get(slot.word_class)
    if amount is not None and not reading.classes.is_of(token, amount):
        token = reading.classes.amount_of(token, amount) or token
    is_deed = token.tag_ in {"VB", "VBG"} and slot.word_class in _TASTES
    is_specific = slot.word_class in _TASTES and any(
        child.lower_ in _SPECIFIC for child in children(token, "prep")
    )
    text = reading.values.text(token, with_phrase=is_whole or is_deed or is_specific)
    if is_deed and token.tag_ == "VB" and text.lower().startswith(token.lower_):
        text = f"{reading.lexicon.gerund(token.lower_)}{text[len(token) :]}"  # "I like to hike"
    is_language = slot.predicate == "languages_spoken" and bool(text)
    return text.split()[-1] if is_language else text


def _clause_value(verb: Token, reading: Reading) -> str:
    """What a clause says that has no person in it: "that the green comes from oxygen"."""
    marks = children(verb, "mark")
    inside = [token for token in verb.subtree if marks and token.i > marks[0].i]
    stops = [token.i for token in inside if token.text in {";", ":"}]
    inside = [token for token in inside if not stops or token.i < stops[0]]
    if not inside or any(each.lower_ in reading.lexicon.grammar.personal for each in inside):
        return ""
    while inside and (inside[-1].is_punct or inside[-1].is_space):
        inside.pop()
    return reading.parsed.text[inside[0].idx : inside[-1].idx + len(inside[-1])] if inside else ""
