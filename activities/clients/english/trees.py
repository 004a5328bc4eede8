"""Trees: questions about a parse that need no lexicon."""

from collections.abc import Iterator

from spacy.tokens import Token

CLAUSAL = frozenset(
    {"ccomp", "xcomp", "advcl", "relcl", "acl", "conj", "pcomp", "parataxis", "dep", "csubj"}
)
_JOINED = frozenset({"NOUN", "PROPN", "NUM", "PRON", "ADJ", "VERB", "X"})
_LET_GO = frozenset({"from", "by", "in", "on", "at", "after", "recently", "today", "yesterday"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


def is_verb(token: Token) -> bool:
    """Whether a token heads a clause."""
    return token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass"}


def children(token: Token, *labels: str) -> list[Token]:
    """The dependents of a token with one of the labels, in their order."""
    return [child for child in token.children if child.dep_ in labels]


def is_let_go(verb: Token) -> bool:
    """Whether it is the "go" of "let go", one verb with "let": nowhere in particular does anybody go."""
    is_below = lemma(verb) == "go" and verb.tag_ == "VB" and verb.dep_ in {"xcomp", "ccomp"}
    if not is_below or lemma(verb.head) != "let" or verb.nbor(-1).lower_ == "to":
        return False
    return all(
        child.dep_ in {"punct", "npadvmod", "nsubj"}
        or (
            child.lower_ in _LET_GO
            and all(map(_may_let_go, children(child, "pobj") if child.lower_ == "by" else ()))
        )
        for child in verb.children
    )


def _may_let_go(token: Token) -> bool:
    """Whether somebody may be an employer: "by Acme", "by my firm", no "by the police"."""
    return token.pos_ == "PROPN" or bool(children(token, "poss"))


def subjects(verb: Token) -> list[Token]:
    """The subjects that a verb has itself."""
    return [child for child in verb.children if child.dep_ in _SUBJECTS]


def conjuncts(token: Token) -> Iterator[Token]:
    """A token and what is joined to it, as in "jazz, tea and long walks"."""
    yield token
    for child in children(token, "conj"):
        is_excepted = any(each.dep_ == "neg" or each.lower_ == "not" for each in child.children)
        is_excepted = is_excepted or (child.i > 0 and child.nbor(-1).lower_ == "not")
        if child.pos_ in _JOINED and not subjects(child) and not is_excepted:
            yield from conjuncts(child)
    if token.tag_ == "NNS":  # "three languages: Dutch, French"
        for child in children(token, "appos"):
            yield from conjuncts(child)


def following(noun: Token, *prepositions: str) -> list[Token]:
    """What follows a noun with one of the prepositions, as "Mara" in "the birthday of Mara"."""
    return [
        each
        for preposition in children(noun, "prep")
        if preposition.lower_ in prepositions
        for each in preposition.children
    ]


def lemma(token: Token) -> str:
    """The lemma in small letters."""
    return token.lemma_.lower()


def verb_key(verb: Token) -> str:
    """A verb by its lemma, with its particle: `give_up`."""
    particle = next(
        (
            child.lower_
            for child in verb.children
            if child.dep_ == "prt"
            or is_let_go(child)
            or (
                child.dep_ == "advmod"
                and child.lower_ in {"away", "back", "over", "down"}
                and child.i == verb.i + 1
            )
        ),
        "",
    )
    return f"{lemma(verb)}_{particle}" if particle else lemma(verb)


def auxiliaries(verb: Token) -> list[Token]:
    """The auxiliaries of a verb; of "moved and settled" those of the first go for the second."""
    own = children(verb, "aux", "auxpass")
    if own or subjects(verb) or verb.dep_ != "conj" or verb.head.pos_ not in {"VERB", "AUX"}:
        return own
    same_form = verb.tag_ == verb.head.tag_ or verb.tag_ in {"VB", "VBG", "VBN"}
    return auxiliaries(verb.head) if same_form and verb.tag_ != "VBD" else own


def is_negated(verb: Token) -> bool:
    """Whether a verb, or a noun that completes it, is denied."""
    if any(child.dep_ == "neg" or child.lower_ == "never" for child in verb.children):
        return True
    completing = children(verb, "attr", "acomp", "oprd", "dobj")[:1]
    return any(
        part.i < each.i and (part.lower_ == "no" or part.dep_ == "neg")
        for each in completing
        for part in each.children
    )


def clause_words(verb: Token) -> list[Token]:
    """The tokens of a clause without its other clauses, in their order."""
    found: list[Token] = []

    def walk(token: Token) -> None:
        found.append(token)
        for child in token.children:
            if is_let_go(child) or not (child.dep_ in CLAUSAL and is_verb(child)):
                walk(child)

    walk(verb)
    return sorted(found, key=lambda token: token.i)


def clause_text(verb: Token) -> str:
    """The words of a clause without its other clauses, in small letters."""
    return " ".join(token.lower_ for token in clause_words(verb))
