"""Identifiers in a text: addresses, numbers, codes and names of accounts, each with a normal form.

An identifier is matched whole or not at all, in what is forgotten and in what is searched: one that differs by a
character names another thing, however alike both look. The patterns are data, in `identifiers.yaml`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from ipaddress import ip_interface
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple
from urllib.parse import unquote

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import parse_yaml

IdentifierKind = Literal[
    "email",
    "url",
    "handle",
    "uuid",
    "mac",
    "ip",
    "iban",
    "ssn",
    "card",
    "phone",
    "version",
    "code",
    "number",
]

_FILE = Path(__file__).with_name("identifiers.yaml")
_LONG_NUMBER = 5  # digits, from which on a number names one thing whatever stands before it
_PHONE_DIGITS = range(8, 16)  # Source: ITU-T E.164, at most 15 with the country's
_FEWEST_DIGITS = 7
_LONGEST_CODE = 64
_LONG_CODE = 7  # letters and figures, from which on groups of a code may be written without what is between them
_CODE_FIGURES = 6  # from which on those beside a single letter are a code, whatever the letter
_GROUPS = 3  # of a code that is written with spaces, at least
_LONGEST_GROUP = 4  # letters and figures of one of them; a longer one may be a code by itself
_TELLING_GROUP = (
    8  # letters and figures of a group, such as that of a key, which may stand for the code alone
)
_WINDOW = (
    16_384  # characters of a text in which all patterns are looked for, some milliseconds each
)
_AROUND = 256  # characters before and behind a window that its identifiers may reach into
_MARKS = re.compile(r"[ _/.-]")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
_SIGNS = str.maketrans(dict.fromkeys(_DASHES, "-"))
_RUNS = re.compile(r"[a-z]+|\d+")
_AT_SIGN, _DOT_SIGN = r"@|%40|&(?:\#0*64|\#x0*40|commat);", r"\.|%2e|\[\.\]|\(\.\)"
_AT = re.compile(rf" ?[\[({{<] ?at ?[\])}}>] ?| -?at-? | ?(?:{_AT_SIGN}) ?")
_DOT = re.compile(rf" ?[\[({{<] ?dot ?[\])}}>] ?| -?dot-? |{_DOT_SIGN}")
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_URL_MARKS = re.compile(r"[/?=&#:;,]+")
_AMERICAN = re.compile(r"1(?:[2-9]\d\d){2}\d{4}")  # Source: North American Numbering Plan
_WEB_PORT = re.compile(r":(?:80|443)$")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Identifier:
    """An identifier as it stands in a text.

    `key` is its normal form, which all written forms of it share. `also` are keys of less complete forms that it may be
    written in: a number without the country's, a ticket without the word before it. `core` stands in each of its written
    forms, once all but letters and digits of ASCII is left out and capitals are small.
    """

    kind: IdentifierKind
    text: str
    start: int
    end: int
    key: str
    also: tuple[str, ...] = ()
    core: str

    def is_same(self, other: "Identifier") -> bool:
        """Whether both name one thing, in whichever form; one that differs in a character does not."""
        return self.key == other.key or self.key in other.also or other.key in self.also


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers in a text, in their order; none overlaps another. Dates and amounts are none.

    A long text is read window by window: a pattern is looked for without a pause, in which no other thread runs.
    """
    found: list[Identifier] = []
    read_to = 0  # where the last identifier ends
    for begin, end in windows_of(text, _WINDOW):
        first = max(begin - _AROUND, read_to, 0)
        for one in _find(text[first : end + _AROUND]):
            start = first + one.start
            if begin <= start < end:
                read_to = first + one.end
                found.append(replace(one, start=start, end=read_to))
    return tuple(found)


def windows_of(text: str, size: int) -> Iterator[tuple[int, int]]:
    """The begin and end of each window of a text: behind white space, where there is some in its second half."""
    begin = 0
    while begin < len(text):
        end = begin + size
        if end < len(text):
            last = max(text.rfind(space, begin + size // 2, end) for space in "\n ")
            end = end if last < 0 else last + 1
        yield begin, min(end, len(text))
        begin = end


def _find(text: str) -> list[Identifier]:
    """The identifiers in a window of a text."""
    places = [place for place, char in enumerate(text) if char not in _INVISIBLE]
    plain = _plain("".join(text[place] for place in places))
    taken = bytearray(len(plain))
    found: list[Identifier] = []
    for pattern in _patterns():
        for match in pattern.of.finditer(plain):
            start, end = match.span("id" if "id" in pattern.of.groupindex else 0)
            if any(taken[match.start() : match.end()]):
                continue
            if pattern.kind is None:
                taken[start:end] = b"\1" * (end - start)
                continue
            form = pattern.form(plain[start:end], plain[match.start() : start])
            if form is None:
                continue
            taken[start:end] = b"\1" * (end - start)
            first, last = places[start], places[end - 1] + 1
            found.append(
                Identifier(
                    kind=pattern.kind,
                    text=text[first:last],
                    start=first,
                    end=last,
                    key=form.key,
                    also=form.also,
                    core=form.core,
                )
            )
    return sorted(found, key=lambda one: one.start)


def find_all_identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers in a text, and those inside its URLs, such as the ticket of `…/browse/OPS-311`, which overlap them."""
    found = find_identifiers(text)
    urls = (_URL_MARKS.sub(" ", unquote(one.text)) for one in found if one.kind == "url")
    inside = (one for url in urls for one in find_identifiers(url) if one.kind != "url")
    return (*found, *inside)


def is_identifier_noun(word: str) -> bool:
    """Whether a word, folded, says of which kind the identifier beside it is, such as `ticket` or `number`."""
    return word in _data().all_nouns


def letters_and_digits(text: str) -> str:
    """The letters and figures of ASCII in a text, small and without what is between them: where cores are looked for."""
    return _alphanumeric(_plain(text).lower())


class _Form(NamedTuple):
    key: str
    core: str
    also: tuple[str, ...] = ()


class _Pattern(NamedTuple):
    """A pattern, the kind of what it finds (None for what is no identifier), and the form of that and of what is before it."""

    of: re.Pattern[str]
    kind: IdentifierKind | None
    form: Callable[[str, str], _Form | None]


class _Kind(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: IdentifierKind | Literal["date", "quantity"]
    pattern: str
    form: str | None = None
    least_digits: int = _FEWEST_DIGITS


class _Data(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: tuple[_Kind, ...]
    labels: tuple[dict[str, tuple[str, ...]], ...]
    nouns: dict[str, tuple[str, ...]]
    suffixes: frozenset[str]
    prefixes: frozenset[str]
    words: tuple[str, ...]
    currencies: tuple[str, ...]
    tlds: tuple[str, ...]
    calling_codes: frozenset[str]
    iban_lengths: dict[str, int]

    @property
    def all_labels(self) -> tuple[str, ...]:
        """What a number may be called, in any language."""
        return tuple(word for group in self.labels for words in group.values() for word in words)

    @property
    def all_nouns(self) -> frozenset[str]:
        """All words that say of which kind an identifier is."""
        return frozenset(self.all_labels).union(*self.nouns.values())


@cache
def _data() -> _Data:
    return _Data.model_validate(parse_yaml(_FILE.read_text(encoding="utf-8")))


@cache
def _patterns() -> tuple[_Pattern, ...]:
    data = _data()
    parts = {
        "<at>": f"(?: {_AT_SIGN} )",
        "<dot>": f"(?: {_DOT_SIGN} )",
        "<tlds>": "|".join(data.tlds),
        "<labels>": "|".join(sorted(data.all_labels, key=len, reverse=True)),
        "<currencies>": "|".join(data.currencies),
        "<words>": rf"(?! (?: {'|'.join(data.words)} ) \b )",
        "<ibans>": "|".join(_iban_patterns(data.iban_lengths)),
    }
    return tuple(_compiled(kind, parts) for kind in data.kinds)


def _compiled(kind: _Kind, parts: Mapping[str, str]) -> _Pattern:
    written = kind.pattern
    for name, part in parts.items():
        written = written.replace(name, part)
    pattern = re.compile(written, re.ASCII | re.IGNORECASE | re.VERBOSE)
    if kind.kind == "date" or kind.kind == "quantity":  # noqa: PLR1714 - so that the type is narrowed
        return _Pattern(of=pattern, kind=None, form=_no_form)
    is_digits = kind.form == "digits"
    form = partial(_digits, least=kind.least_digits) if is_digits else _FORMS[kind.form or ""]
    return _Pattern(of=pattern, kind=kind.kind, form=form)


def _iban_patterns(lengths: Mapping[str, int]) -> Iterator[str]:
    ordered = sorted(lengths, key=lambda country: (lengths[country], country))
    for length, countries in groupby(ordered, key=lambda country: lengths[country]):
        yield (
            rf"(?<! [\w-] ) (?: {'|'.join(countries)} ) \d\d (?: [ .-]? [a-z0-9] ){{{length - 4}}} (?! \w )"
        )


def _plain(text: str) -> str:
    """A text with plain figures, spaces and dashes, each where it stood."""
    if text.isascii():
        return text
    return "".join(map(_plain_char, text)).translate(_SIGNS)


def _plain_char(char: str) -> str:
    if char.isascii():
        return char
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def _no_form(_text: str, _before: str) -> None:
    return None


def _email(text: str, _before: str) -> _Form:
    """An address; it is written with a tag (`ada+news@…`), in quotation marks or between marks of a format too."""
    local, _, domain = _DOT.sub(".", _AT.sub("@", text.casefold())).partition("@")
    local = unquote(local).strip('"')
    plain = local.strip("'_").partition("+")[0] or local
    parts = _NOT_ALPHANUMERIC.split(plain)  # dots between them may be words
    also = (f"email {plain}@{domain}",) if plain != local else ()
    return _Form(f"email {local}@{domain}", max(parts, key=len) or _first(local + domain), also)


def _url(text: str, _before: str) -> _Form:
    text = _DOT.sub(".", text)
    scheme, mark, rest = text.partition("://")
    scheme, rest = (scheme.lower(), rest) if mark else ("http", text)
    host, path = re.fullmatch(r"([^/?#]*)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
    host = host.lower()
    if scheme in {"http", "https"}:
        scheme, host = "", _WEB_PORT.sub("", host.removeprefix("www."))
    key = f"url {scheme}//{host}{path}".rstrip("/")
    return _Form(key, _alphanumeric(host.partition(":")[0]))


def _folded(text: str, _before: str) -> _Form | None:
    core = _alphanumeric(text.casefold())
    return _Form(f"name {text.casefold()}", core) if core else None


def _joined(text: str, _before: str) -> _Form:
    joined = _alphanumeric(text.lower())
    return _Form(f"joined {joined}", joined, (f"code {joined}",))


def _ip(text: str, _before: str) -> _Form | None:
    text = _DOT.sub(".", text)
    try:
        address = ip_interface(text)
    except ValueError:
        return None
    whole = f"{address}" if "/" in text else f"{address.ip}"
    is_host = "/" in text and address.ip != address.network.network_address
    also = (f"ip {address.ip}",) if is_host else ()
    first = text.lower().replace(":", ".").split(".")
    return _Form(
        f"ip {whole}", next((part.lstrip("0") for part in first if part.strip("0")), "0"), also
    )


def _version(text: str, _before: str) -> _Form:
    folded = text.lower().lstrip("v ")
    return _Form(f"version {folded}", _alphanumeric(folded))


def _code(text: str, _before: str) -> _Form | None:
    """Letters and figures: which they are, and where a figure ends and another begins."""
    folded = text.lower()
    runs = _RUNS.findall(folded)
    has_both = any(run.isdigit() for run in runs) and any(run.isalpha() for run in runs)
    if not has_both or len(text) > _LONGEST_CODE or not _names_one(text, runs):
        return None
    key, core = "", "".join(runs)
    for run in runs:
        key += "-" + run if key and key[-1].isdigit() and run[0].isdigit() else run
    groups = _MARKS.split(folded)
    mixed = [one for one in groups if not one.isdigit() and not one.isalpha()]
    if " " in text and mixed and (len(groups) < _GROUPS or _is_list(groups, mixed)):
        return None
    is_long = len(core) >= _LONG_CODE and len(groups) >= _GROUPS
    joined = (f"code {core}", f"joined {core}") if is_long and key != core else ()
    apart = [one for one in mixed if " " in text and len(one) > _LONGEST_GROUP]
    longest = max(mixed, key=len, default="")
    if len(groups) > 1 and len(longest) >= _TELLING_GROUP:
        apart, core = [*apart, longest], longest
    return _Form(f"code {key}", core, (*joined, *(f"code {one}" for one in apart)))


def _is_list(groups: list[str], mixed: list[str]) -> bool:
    """Whether groups are codes of their own: *A12 B14 C16*."""
    return len(mixed) == len(groups) and min(map(len, groups)) < _LONGEST_GROUP


def _names_one(text: str, runs: list[str]) -> bool:
    """Whether letters and figures are no measure (5km), order (3rd), age (20-year-old) or part of a year (mid-2024)."""
    data = _data()
    figures = sum(map(len, filter(str.isdigit, runs)))
    has_one_letter = [1, figures] == sorted(map(len, runs)) and not text[-1].islower()
    if has_one_letter and figures >= _CODE_FIGURES:
        return True  # X8842172, but not 250000m
    if runs[0].isalpha():
        rest = (run.isdigit() or run in data.suffixes for run in runs[1:])
        return not (runs[0] in data.prefixes and all(rest))
    words = [run for run in runs if run.isalpha()]
    is_joined_word = len(runs) > 1 and text[len(runs[0])] in "-_" and words[0] in text
    is_alone = len(runs) - len(words) == 1 or _MARKS.split(text.lower())[0] == "".join(runs[:2])
    is_measure = words[0] in data.suffixes and (is_alone or data.suffixes.issuperset(words))
    return not is_measure and not (is_joined_word and len(words[0]) > 1)


def _digits(text: str, _before: str = "", *, least: int = _FEWEST_DIGITS) -> _Form | None:
    """Figures, however they are grouped; those of a country behind + or 00."""
    figures = re.sub(r"\D", "", text.replace("(0)", ""))
    if text.startswith("+") or (text.startswith("00") and len(figures) - 2 in _PHONE_DIGITS):
        return _international(figures.removeprefix("00"))
    if _AMERICAN.fullmatch(figures):
        return _international(figures)
    core = figures.lstrip("0") or figures  # without what a country's takes the place of
    return _Form(f"number {figures}", core) if len(figures) >= least else None


def _international(figures: str) -> _Form | None:
    if len(figures) not in _PHONE_DIGITS:
        return None
    codes = _data().calling_codes
    code = next((figures[:n] for n in (1, 2) if figures[:n] in codes), figures[:3])
    own = figures.removeprefix(code).lstrip("0")
    others = (figures, own, f"0{own}")
    return _Form(f"number +{figures}", own, tuple(f"number {other}" for other in others))


def _labelled(text: str, before: str) -> _Form:
    """A number by what it is called; a long one names one thing whatever it is called."""
    figures = re.sub(r"\D", "", text)
    if len(figures) >= _LONG_NUMBER:
        return _digits(text, least=_LONG_NUMBER) or _Form(f"number {figures}", figures)
    plain = f"short {text}"
    label = re.match(r"[a-z]+", before.lower())
    if label is None or label[0] not in _data().all_labels:
        return _Form(plain, figures)
    return _Form(f"{plain} {label[0]}", figures, (plain,))


def _alphanumeric(folded: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", folded)


def _first(folded: str) -> str:
    return next(iter(_RUNS.findall(folded)), "")


_FORMS: Mapping[str, Callable[[str, str], _Form | None]] = MappingProxyType(
    {
        "email": _email,
        "url": _url,
        "folded": _folded,
        "joined": _joined,
        "ip": _ip,
        "version": _version,
        "code": _code,
        "labelled": _labelled,
    }
)
