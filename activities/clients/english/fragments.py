"""Fragments: what has no verb of its own to go by, such as "New number: 555-0199" and "Call me Mo".

They stand apart because a parse says little about them; their marks and first words say more.
"""

import itertools
from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import Reading, make_claim
from mnestic.activities.clients.english.lexicon import Grammar
from mnestic.activities.clients.english.trees import children, is_verb, lemma, subjects
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

_WE, _OWN, _OUR = frozenset({"i", "we"}), frozenset({"me", "us"}), frozenset({"my", "our"})
_BEFORE_ADDRESSES = frozenset({"DT", "PRP$", "JJ", "RB", "IN"})
_CONTACTS = {"phone": "phone", "email": "email"}
_ASIDE = frozenset({"from", "by"})
_IS = {"'m": "am", "m": "am", "'s": "is", "'re": "are"}
_NAME_LENGTHS = (1, 2)
_LONGEST_FRAGMENT = 6  # words
_LONGEST_LEAD = 12  # tokens between what leads to an address and the address


def fragments_of(sentence: Sequence[Token], reading: Reading) -> Iterator[Extracted]:
    """The claims of a sentence by its marks and first words."""
    yield from _contacts(sentence, reading)
    yield from _called(sentence, reading)
    yield from _introduced(sentence, reading)
    yield from _verbless(sentence, reading)


def _contacts(sentence: Sequence[Token], reading: Reading) -> Iterator[Extracted]:
    """As in "Reach me on 0170 1234567", "Please use kim@new.example"."""
    grammar = reading.lexicon.grammar
    for place, token in enumerate(sentence):
        predicate = _CONTACTS.get(reading.values.kind_of(token))
        if predicate is None:
            continue
        lead = list(sentence[max(0, place - _LONGEST_LEAD) : place])
        cues = [each for each in lead if _is_cue(each, token, reading)]
        is_named = any(_is_other(each, reading) for each in lead)
        if not cues or is_named or any(each.lower_ in grammar.contact_of_others for each in lead):
            continue
        rest = itertools.takewhile(lambda each: each.text != ",", sentence[place:])
        if any(each.lower_ in grammar.contact_defunct for each in rest):
            continue
        value = reading.parsed.text[token.idx : token.idx + len(token)]
        kind: ClaimKind = "corrected" if reading.is_correction else "affirmed"
        yield make_claim([cues[0], token], reading.cast.speaker, predicate, value, kind=kind)


def _is_cue(token: Token, address: Token, reading: Reading) -> bool:
    """Whether a word says that an address after it is the speaker's: "reach me on", "my email", "new number:", "use"."""
    contact, low = reading.lexicon.grammar.contact, token.lower_
    if low in _OWN:  # "write to me", "call me", no "Ana gave me"
        verb = token.head if is_verb(token.head) else token.head.head
        return not contact.isdisjoint({lemma(verb), verb.lower_}) and _is_request(verb)
    if token.dep_ == "nsubjpass":
        return low in _WE and lemma(token.head) in contact
    if low == "use":
        between = token.doc[token.i + 1 : address.i]
        return _is_request(token) and all(
            each.is_punct or each.tag_ in _BEFORE_ADDRESSES or _is_contact(each, reading)
            for each in between
        )
    return _is_contact(token, reading) and _is_own(token, reading)


def _is_request(verb: Token) -> bool:
    """Whether whoever reads a message is to do something: "use", "you can use"."""
    return all(each.lower_ == "you" for each in subjects(verb))


def _is_contact(token: Token, reading: Reading) -> bool:
    """Whether a word names an address, such as "number", or what to do with it, such as "text"."""
    noun = reading.lexicon.nouns.get(token.lower_)
    return noun in _CONTACTS.values() or token.lower_ in reading.lexicon.grammar.contact


def _is_own(noun: Token, reading: Reading) -> bool:
    """Whether an address that is named belongs to the speaker: "my work number", "new number", "mail:", no "Ana's number"."""
    before = [*reversed(noun.doc[noun.sent.start : noun.i])]
    described = [*itertools.takewhile(lambda each: each.pos_ in {"NOUN", "ADJ"}, before)]
    owner = before[len(described)].lower_ if len(described) < len(before) else ""
    if owner in _OUR:
        return not is_verb(noun) and not any(
            lemma(each) in reading.lexicon.grammar.kin_of for each in described
        )
    if owner and not before[len(described)].is_punct:
        return False
    is_plain = all(each.lower_ == "new" or _is_contact(each, reading) for each in described)
    is_label = noun.i + 1 < len(noun.doc) and noun.nbor().text == ":"
    return is_plain and (is_label or any(each.lower_ == "new" for each in described))


def _is_other(token: Token, reading: Reading) -> bool:
    """Whether a word says that an address is another's: "Reach Mara on", "Mara's email", "call my aunt on"."""
    if is_verb(token) and token.lower_ in reading.lexicon.grammar.contact - {"use"}:
        objects = [
            each
            for child in children(token, "dobj", "dative")
            for each in (child.children if child.pos_ == "ADP" else [child])
        ]
        return bool(objects) and not any(
            each.lower_ in _OWN or reading.lexicon.nouns.get(each.lower_) in _CONTACTS.values()
            for each in objects
        )
    if token.dep_ == "poss":
        return token.lower_ not in _OUR
    is_owner = token.dep_ == "nsubj" or token.head.lower_ == "of"
    return token.pos_ == "PROPN" and is_owner


def _called(sentence: Sequence[Token], reading: Reading) -> Iterator[Extracted]:
    """As in "Call me Mo", "everybody calls me Mo"."""
    for token in sentence:
        if (
            lemma(token) not in reading.lexicon.grammar.call_me
            or token.tag_ not in {"VB", "VBP", "VBZ"}
            or token.dep_ == "xcomp"
        ):
            continue
        me = [each for each in token.subtree if each.lower_ == "me" and each.i == token.i + 1]
        after = token.doc[token.i + 2] if me and token.i + 2 < len(token.doc) else None
        who = subjects(token)
        is_of_all = not who or any(lemma(each) in reading.lexicon.grammar.callers for each in who)
        if after is None or not is_of_all or children(token, "neg", "mark"):
            continue
        no_name = reading.lexicon.classes["no_name"]
        if after.text[:1].isupper() and after.lower_ not in no_name:
            yield make_claim(
                [token, after], reading.cast.speaker, "preferred_name", reading.values.word(after)
            )


def _introduced(sentence: Sequence[Token], reading: Reading) -> Iterator[Extracted]:
    """As in "Hi, I'm Mo.", "Mo here": nothing else is said in the sentence."""
    grammar = reading.lexicon.grammar
    asides = {each for token in sentence if token.lower_ in _ASIDE for each in token.subtree}
    words = [
        token
        for token in sentence
        if token not in asides
        and not token.is_punct
        and not token.is_space
        and token.lower_ not in grammar.greetings
    ]
    name = _name_in(words, grammar.introductions.sure)
    if words and not name and _is_beginning(sentence, grammar):
        likely = _name_in(words, grammar.introductions.likely)
        name = likely if all(token.ent_type_ == "PERSON" for token in likely) else ()
    if name and all(map(reading.classes.is_person_name, name)):
        value = " ".join(map(reading.values.word, name))
        predicate = "full_name" if " " in value else "preferred_name"
        yield make_claim(words, reading.cast.speaker, predicate, value)


def _name_in(words: Sequence[Token], forms: Sequence[str]) -> Sequence[Token]:
    """The one or two words that stand for `*` in a form, if the words are of one."""
    plain = [_IS.get(token.lower_, token.lower_) for token in words]
    for form in forms:
        before, after = (part.split() for part in form.split("*"))
        end = len(words) - len(after)
        is_form = plain[: len(before)] == before and plain[end:] == after
        if is_form and end - len(before) in _NAME_LENGTHS:
            return words[len(before) : end]
    return ()


def _is_beginning(sentence: Sequence[Token], grammar: Grammar) -> bool:
    """Whether a message begins with a sentence, and does not go on about another person: "This is Mo. She is nine"."""
    doc, last = sentence[0].doc, sentence[-1].i
    following = doc[last + 1].lower_ if last + 1 < len(doc) else ""
    is_other = following in grammar.female | grammar.male
    return not is_other and not any(is_verb(token) for token in doc[: sentence[0].i])


def _verbless(sentence: Sequence[Token], reading: Reading) -> Iterator[Extracted]:
    """As in "Vegan now", "Now a nurse": a complement of the speaker, with a cue of change."""
    words = [token for token in sentence if not token.is_punct and not token.is_space]
    lows = {token.lower_ for token in words}
    if (
        not words
        or len(words) > _LONGEST_FRAGMENT
        or any(is_verb(token) or subjects(token) for token in words)
    ):
        return
    if not lows & reading.lexicon.grammar.recent or lows & {"not", "no", "never"}:
        return
    for token in words:
        for word_class, predicate in reading.lexicon.complements:
            if word_class != "nationality" and reading.classes.fits(token, word_class):
                yield make_claim(words, reading.cast.speaker, predicate, reading.values.text(token))
