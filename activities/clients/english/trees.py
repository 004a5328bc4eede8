"""Trees: questions about a parse that need no lexicon."""

from collections.abc import Iterator

from spacy.tokens import Token

CLAUSAL = frozenset(
    {"ccomp", "xcomp", "advcl", "relcl", "acl", "conj", "pcomp", "parataxis", "dep", "csubj"}
)
_JOINED = frozenset({"NOUN", "PROPN", "NUM", "PRON", "ADJ", "VERB", "X"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_AGAINST = frozenset({"but", "now"})
_LINKS = frozenset({"who", "which", "that"})


def is_verb(token: Token) -> bool:
    """Whether a token heads a clause."""
    return token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass"}


def children(token: Token, *labels: str) -> list[Token]:
    """The dependents of a token with one of the labels, in their order."""
    return [child for child in token.children if child.dep_ in labels]


def lemma(token: Token) -> str:
    """The lemma in small letters; "hates" is of "hate", whatever the pipeline says."""
    low, base = token.lower_, token.lemma_.lower()
    is_cut = (
        low == f"{base}es"
        and token.pos_ == "VERB"
        and not base.endswith(("s", "x", "z", "ch", "sh", "o"))
    )
    return f"{base}e" if is_cut else base


def subjects(verb: Token) -> list[Token]:
    """The subjects that a verb has itself."""
    return [owned_behind(child) for child in verb.children if child.dep_ in _SUBJECTS]


def owned_behind(noun: Token) -> Token:
    """What the name right behind a noun owns, which a parse hangs on the noun: the car, of "my brother Jon's car"."""
    owner = noun.nbor() if noun.i + 1 < len(noun.doc) else noun
    while owner.dep_ == "compound":
        owner = owner.head
    owned = owner.head
    is_beside = (owned.dep_, owned.head) in {("appos", noun), (noun.dep_, noun.head)}
    return owned if owner.dep_ == "poss" and is_beside else noun


def subjects_of(verb: Token) -> list[Token]:
    """The subjects of a verb, which may stand by the verb above it, or be the noun that it describes."""
    own, head = subjects(verb), verb.head
    own = [*_joined_to_me(verb, own), *own]
    if verb.dep_ == "relcl" and (not own or own[0].lower_ in _LINKS):
        return [head]
    if not own and verb.dep_ == "acl" and verb.tag_ in {"VBG", "VBN"}:
        return [head]
    above = head.head if verb.dep_ == "pcomp" else head
    is_shared = verb.dep_ in {"conj", "xcomp", "pcomp"} or (
        verb.dep_ in {"advcl", "ccomp", "dep"} and verb.tag_ in {"VBG", "VBN"}
    )
    if not own and is_shared and above != verb:
        return (
            subjects_of(above)
            if is_verb(above)
            else subjects_of(above.head)
            if is_verb(above.head)
            else []
        )
    return own


def _joined_to_me(verb: Token, own: list[Token]) -> list[Token]:
    """The first of two subjects that a parse takes for something else, as in "Tom and I got divorced"."""
    if verb.dep_ == "conj" and verb.head.pos_ == "PROPN" and own and own[0].lower_ == "i":
        return [verb.head]
    before = [child for child in children(verb, "npadvmod") if child.i < verb.i]
    return [one for one in before if any(each.lower_ == "i" for each in children(one, "conj"))]


def is_left_out(verb: Token) -> bool:
    """Whether nothing but adverbs stands before a finite verb, so that "I" was left out: "Sold the car"."""
    leads = [
        token
        for token in verb.sent
        if token.i < verb.i
        and token.pos_ not in {"ADV", "INTJ", "PUNCT", "CCONJ", "AUX", "PART", "SPACE"}
    ]
    is_doing = verb.tag_ == "VBG" and not children(verb, "aux")
    is_unmarked = verb.lower_ == "quit" or (
        verb.tag_ == "VB" and any(each.lower_ in {"ca", "can"} for each in children(verb, "aux"))
    )
    return (verb.tag_ in {"VBD", "VBN", "VBG"} or is_unmarked) and not is_doing and not leads


def conjuncts(token: Token) -> Iterator[Token]:
    """A token and what is joined to it, as in "jazz, tea and long walks"; what is excepted is left out."""
    yield token
    for child in children(token, "conj", *(("appos",) if token.tag_ == "NNS" else ())):
        is_excepted = any(each.dep_ == "neg" or each.lower_ == "not" for each in child.children)
        is_excepted = is_excepted or (child.i > 0 and child.nbor(-1).lower_ in {"not", "but"})
        if child.pos_ in _JOINED and not subjects(child) and not is_excepted:
            yield from conjuncts(child)


def is_set_against(token: Token) -> bool:
    """Whether "now" or "but" parts a word from what its verb says of others: "no longer at Shell, now at BP"."""
    edge = (token.head if token.dep_ == "pobj" else token).left_edge
    return any(each.lower_ in _AGAINST for each in edge.doc[max(0, edge.i - 1) : edge.i + 1])


def following(noun: Token, *prepositions: str) -> list[Token]:
    """What follows a noun with one of the prepositions, as "Mara" in "the birthday of Mara"."""
    return [
        each
        for preposition in children(noun, "prep")
        if preposition.lower_ in prepositions
        for each in children(preposition, "pobj")
    ]


def is_misread(token: Token) -> bool:
    """Whether a parse may take a noun behind "to" for a verb: "allergic to shrimp", "cycle to work"."""
    return [child.lower_ for child in token.children if child.dep_ != "punct"] == ["to"]


def verb_key(verb: Token) -> str:
    """A verb by its lemma, with its particle: `give up`."""
    particles = [child.lower_ for child in verb.children if child.dep_ == "prt"]
    particles = particles or [
        child.lower_
        for child in verb.children
        if child.dep_ == "advmod"
        and child.lower_ in {"away", "back", "over", "down", "off", "up", "in"}
        and child.i == verb.i + 1
    ]
    is_got = verb.lower_ == "got" and any(lemma(one) == "have" for one in children(verb, "aux"))
    return " ".join(["have" if is_got else lemma(verb), *particles[:1]])


def auxiliaries(verb: Token) -> list[Token]:
    """The auxiliaries of a verb; of "moved and settled" those of the first go for the second."""
    own = children(verb, "aux", "auxpass")
    if own or subjects(verb) or verb.dep_ != "conj" or verb.head.pos_ not in {"VERB", "AUX"}:
        return own
    same_form = verb.tag_ == verb.head.tag_ or verb.tag_ in {"VB", "VBG", "VBN"}
    return auxiliaries(verb.head) if same_form and verb.tag_ != "VBD" else own


def is_negated(verb: Token) -> bool:
    """Whether a verb, or a noun that completes it, is denied."""
    for child in verb.children:
        is_before = (
            child.i < verb.i
            or child.i == verb.i + 1
            or child.nbor(-1).dep_ in {"aux", "auxpass", "nsubj"}
        )
        if is_before and (child.dep_ == "neg" or child.lower_ in {"never", "not"}):
            return True
    completing = [*children(verb, "attr", "acomp", "oprd", "dobj")[:1], *subjects(verb)[:1]]
    return any(
        part.i < each.i and (part.lower_ == "no" or part.dep_ == "neg")
        for each in completing
        for part in each.children
    )


def clause_words(verb: Token) -> list[Token]:
    """The tokens of a clause without its other clauses, in their order."""
    found: list[Token] = []
    rest = [verb]
    while rest:
        token = rest.pop()
        found.append(token)
        rest += [
            child for child in token.children if not (child.dep_ in CLAUSAL and is_verb(child))
        ]
    return sorted(found, key=lambda token: token.i)


def clause_text(verb: Token) -> str:
    """The words of a clause without its other clauses, in small letters."""
    return " ".join(token.lower_ for token in clause_words(verb))
