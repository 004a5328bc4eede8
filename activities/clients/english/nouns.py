"""Nouns: what a clause with "be" or "is called" states: a noun that somebody or something has, and what somebody is.

Here a noun names the predicate: "my landlord is Mrs Okoye", "the code of the shed is 4471".
"""

from collections.abc import Iterator, Sequence

from spacy.tokens import Token

from mnestic.activities.clients.english.clauses import (
    Clause,
    ExtractionContext,
    begins_later,
    claim_of,
)
from mnestic.activities.clients.english.objects import object_of, predicate_named
from mnestic.activities.clients.english.status import Status
from mnestic.activities.clients.english.trees import children, conjuncts, following, lemma
from mnestic.memory.knowledge.claims import ClaimKind, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.numbers import number_words

_NAMING = frozenset({"be", "call", "name", "become", "change"})
_BECOMING = frozenset({"become", "turn", "go", "change", "get"})
_COMPLEMENTS = ("attr", "oprd", "dobj", "acomp", "npadvmod", "advmod", "xcomp")
_PLACED = frozenset({"be in", "be at", "be on", "be from"})
_OF_THINGS = ("of", "for", "at", "in")
_NO_PLACED = frozenset({"person", "job"})
_NAMES = frozenset({"preferred_name", "full_name"})


def noun_claims(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """What a clause says of a noun that somebody or something has, in either order."""
    verb, kind = clause.verb, _kind_of(clause)
    is_named = bool(children(verb, "auxpass")) or verb.dep_ == "acl"
    is_naming = lemma(verb) in {"call", "name"}
    if lemma(verb) not in _NAMING or (is_naming and not is_named) or kind is None:
        return
    values = _complements_of(clause)
    for subject in clause.subject_tokens:
        noun = _antecedent(subject) or subject
        slot = _attribute_of(noun, context, values)
        if slot is not None:
            yield from _valued(clause, slot, values, kind=kind, context=context)
            continue
        for other in values if subject.pos_ != "PRON" else ():  # "Utrecht is home"
            slot = _attribute_of(other, context, [noun])
            if slot is not None:
                yield from _valued(clause, slot, [noun], kind=kind, context=context)


def _antecedent(pronoun: Token) -> Token | None:
    """What "it" means: the subject of the sentence before, or of the clause before, if it is a thing."""
    if pronoun.lower_ not in {"it", "its"}:
        return None
    before = [one for one in pronoun.doc[: pronoun.i] if one.dep_ in {"nsubj", "nsubjpass", "dobj"}]
    return before[-1] if before and before[-1].pos_ in {"NOUN", "PROPN"} else None


def _kind_of(clause: Clause) -> ClaimKind | None:
    if clause.status in {Status.NEGATED, Status.ENDED}:
        return "ended"
    is_change = lemma(clause.verb) in _BECOMING and clause.status in {Status.PAST, Status.PERFECT}
    is_so = clause.status in {Status.NOW, Status.LASTING, Status.DOING}
    return "affirmed" if is_so or is_change else None


def _complements_of(clause: Clause) -> list[Token]:
    if lemma(clause.verb) == "change":
        return clause.find("change to")
    tokens = [one for token in children(clause.verb, *_COMPLEMENTS) for one in conjuncts(token)]
    named = [one for one in tokens if one.dep_ != "advmod"]
    placed = clause.find(*_PLACED) if clause.verb.tag_ != "VBG" and not named else []
    return [*tokens, *placed[:1]]


def _attribute_of(
    noun: Token, context: ExtractionContext, values: Sequence[Token]
) -> tuple[str, str] | None:
    """Owner and words of a noun: "my landlord", "Tom's jersey number", "the shed's code", "the office code"."""
    lexicon, entities = context.lexicon, context.entities
    is_timed = any(context.values.is_date(one) for one in values)
    is_vague = noun.lower_ in lexicon.vague - {"home"} and not is_timed
    is_vague = is_vague or context.values.is_date(noun)
    if noun.pos_ not in {"NOUN", "PROPN", "ADJ"} or is_vague:
        return None
    before = [one for one in children(noun, "compound", "amod", "nmod", "nummod") if one.i < noun.i]
    words = [one.lower_ for one in before if one.lower_ not in lexicon.dropped]
    head = lemma(noun) if noun.tag_ in {"NNS", "NNPS"} else noun.lower_
    if not lexicon.gone.isdisjoint(words):
        return None
    owner = entities.owner_of(noun)
    if owner is None and head == "home" and not children(noun, "det", "poss"):
        return entities.speaker, "home"
    if owner is None:
        return _of_thing(noun, [*words, head], context=context, values=values)
    things = [one for one in following(noun, "for", "of") if entities.person_of(one) is None]
    prefix = [lemma(things[0])] if things and children(noun, "poss") else []
    return owner, " ".join([*prefix, *words, head])


def _of_thing(
    noun: Token, words: list[str], *, context: ExtractionContext, values: Sequence[Token]
) -> tuple[str, str] | None:
    """An attribute of what is nobody's, by the noun behind it or before it; only a name, a code or a day is worth while to know."""
    values_ = context.values
    is_telling = any(
        values_.is_code(one)
        or values_.is_date(one)
        or (one.pos_ == "PROPN" and values_.is_name(one))
        for one in values
    )
    is_pointed = any(child.lower_ in context.lexicon.pointing for child in noun.children)
    if not is_telling or is_pointed or noun.pos_ != "NOUN":
        return None
    attribute = " ".join(words)
    for thing in (*children(noun, "poss"), *following(noun, *_OF_THINGS)):
        owner = context.entities.owner_of(thing)
        if owner is not None:
            return owner, f"{lemma(thing)} {attribute}"
        return (values_.text(thing), attribute) if values_.is_thing(thing) else None
    known = [one for one in context.known() if one.predicate == predicate_named(attribute)]
    if known:
        return known[-1].subject, attribute
    if children(noun, "compound") and len(words) > 1:
        return " ".join(words[:-1]), words[-1]
    is_code = any(values_.is_code(one) for one in values)
    return (context.entities.speaker, attribute) if is_code else None


def _valued(
    clause: Clause,
    slot: tuple[str, str],
    values: Sequence[Token],
    *,
    kind: ClaimKind,
    context: ExtractionContext,
) -> Iterator[Extracted]:
    """The values of an attribute: of its kind where it is another name of a known predicate, else of any that names something."""
    owner, words = slot
    known, kind_of_value = _known_predicate(words, context)
    for token in values:
        if token.dep_ == "pobj" and kind_of_value in _NO_PLACED:
            continue
        own_name = predicate_named(words)
        fitting = context.values.fits(token, kind_of_value) if known else None
        predicate = known or own_name
        if fitting is None:
            is_taken = kind_of_value == "person" or own_name in context.lexicon.values
            is_value = not is_taken and _is_open_value(token, own_name, context)
            fitting, predicate = (token if is_value else None), own_name
        value = object_of(fitting, predicate, context) if fitting is not None else ""
        if value and predicate not in context.lexicon.values and not context.values.is_date(token):
            value = context.parsed.labelled(token) or value
        subject, predicate = as_kin(owner, predicate, context)
        if value and predicate and name_key(value) != name_key(subject):
            yield claim_of(clause, subject, (predicate, value), kind=kind, context=context)


def _known_predicate(words: str, context: ExtractionContext) -> tuple[str, str]:
    """The known predicate that a noun is another name of, with the kind of its values."""
    lexicon, parts = context.lexicon, words.split()
    kin = lexicon.kin_of.get(parts[-1])
    if kin is not None:
        return kin.predicate, "person"
    for start in range(len(parts)):
        predicate = lexicon.nouns.get(" ".join(parts[start:]))
        if predicate is not None and not (start and predicate in {"preferred_name", "phone"}):
            return predicate, lexicon.values.get(predicate, "")
    return "", ""


def as_kin(owner: str, predicate: str, context: ExtractionContext) -> tuple[str, str]:
    """Whose a name is: the name of "Ada's dog" is whom Ada has for a dog."""
    if predicate not in _NAMES:
        return owner, predicate
    everybody = context.entities.everybody
    person = next((one for one in everybody if one.subject == owner and one.owner), None)
    return (person.owner, person.kin) if person is not None else (owner, predicate)


def _is_open_value(token: Token, predicate: str, context: ExtractionContext) -> bool:
    """Whether a word is a value of any noun: a name, a number, a code, or a bare noun; "a nightmare" is an opinion."""
    values = context.values
    if values.is_code(token) or (token.pos_ in {"PROPN", "NUM"} and values.is_thing(token)):
        return True
    if predicate.startswith("favourite"):
        return values.is_thing(token) or token.pos_ == "ADJ"
    if values.is_date(token):
        return token.dep_ != "pobj" or token.head.lower_ in {"on", "at"}
    names = children(token, "compound", "nummod", "nmod", "appos")
    has_name = any(child.pos_ in {"PROPN", "NUM"} for child in names)
    is_bare = token.pos_ == "NOUN" and not children(token, "det", "poss", "relcl")
    return token.dep_ != "pobj" and values.is_thing(token) and (has_name or is_bare)


def state_claims(clause: Clause, context: ExtractionContext) -> Iterator[Extracted]:
    """What somebody is: "I'm a nurse at Mercy", "she is vegan", "he is 34", "Luis and I are engaged"."""
    kind = _kind_of(clause)
    if lemma(clause.verb) not in _BECOMING | {"be"} or kind is None:
        yield from _mutual(clause, clause.verb, kind=kind, context=context)
        return
    for token in _complements_of(clause):
        if any(child.lower_ in {"no", "any"} for child in token.children):
            continue
        yield from _mutual(clause, token, kind=kind, context=context)
        is_whole = token.dep_ != "pobj" and not (token.pos_ != "NOUN" and children(token, "prep"))
        slot = _state_of(token, context) if is_whole and not begins_later(clause, context) else None
        for person in clause.subjects if slot is not None else ():
            yield claim_of(clause, person.subject, slot or ("", None), kind=kind, context=context)
        if slot is not None and slot[0] == "job_title" and kind == "affirmed":
            yield from employer_claims(clause, token, context)


def _mutual(
    clause: Clause, token: Token, *, kind: ClaimKind | None, context: ExtractionContext
) -> Iterator[Extracted]:
    """What two people are to one another: "Luis and I got engaged", "we are not together any more"."""
    predicate = context.lexicon.mutual.get(token.lower_)
    speaker = context.entities.speaker
    others = [one for one in clause.subjects if one.subject != speaker]
    is_us = any(one.lower_ in {"we", "i"} for one in clause.subject_tokens)
    if predicate is None or kind is None or not is_us:
        return
    if len(others) == 1:
        value = others[0].called or others[0].subject
        yield claim_of(clause, speaker, (predicate, value), kind=kind, context=context)
    elif kind == "ended" and not others:
        yield claim_of(clause, speaker, (predicate, None), kind=kind, context=context)


def _state_of(token: Token, context: ExtractionContext) -> tuple[str, str] | None:
    lexicon, values = context.lexicon, context.values
    for word in (values.text(token).lower(), token.lower_):
        if word in lexicon.diets:
            return "diet", word
        if word in lexicon.states:
            return lexicon.states[word], word
    if token.pos_ == "NUM" or token.tag_ == "CD":
        age = values.number(token) if token.dep_ != "nummod" else ""
        return ("age", age) if age and not _counts_something(token) else None
    if token.lower_ == "old":
        years = _years_before(token)
        return ("age", years) if years else None
    has_article = any(child.lower_ in {"a", "an"} for child in token.children)
    is_post = bool(following(token, "of"))
    is_job = (has_article or is_post) and values.is_job(token)
    return ("job_title", values.text(token)) if is_job else None


def _counts_something(number: Token) -> bool:
    """Whether a number is of something: "we are 5 people", "I'm 3 weeks in"."""
    after = number.nbor() if number.i + 1 < len(number.doc) else None
    return after is not None and (
        after.pos_ in {"NOUN", "NUM"} or after.lower_ in {"of", "in", "on"}
    )


def _years_before(old: Token) -> str:
    """The age in "34 years old", "thirty-six years old"."""
    years = [one for one in children(old, "npadvmod") if lemma(one) == "year"]
    numbers = [one for year in years for one in children(year, "nummod")]
    text = numbers[0].lower_ if numbers else ""
    if numbers and numbers[0].i > 1 and numbers[0].nbor(-1).text == "-":
        text = f"{numbers[0].nbor(-2).lower_}-{text}"
    return text if text.isdecimal() else str(number_words().cardinals.get(text, ""))


def employer_claims(clause: Clause, job: Token, context: ExtractionContext) -> Iterator[Extracted]:
    """Where somebody works, beside what they work as: "a nurse at Mercy"."""
    behind = (*following(job, "at", "with", "for"), *clause.find("be at", "be with", "be for"))
    for token in behind:
        fitting = context.values.fits(token, "body")
        value = object_of(fitting, "employer", context) if fitting is not None else ""
        for person in clause.subjects if value else ():
            slot = ("employer", value)
            yield claim_of(clause, person.subject, slot, kind="affirmed", context=context)
