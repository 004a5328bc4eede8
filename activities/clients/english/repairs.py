"""Repairs: a message as it was typed, put right once for the parser: letters, marks, fillers and run-on clauses.

It stands before the parse so that no rule behind it has to know how people type. Each character remembers where it stood.
"""

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import NamedTuple

from mnestic.activities.clients.english.lexicon import load_lexicon, pattern
from mnestic.memory.knowledge.claims import Span
from mnestic.memory.language.function_words import stop_words

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " "})
_BLANKS = re.compile(
    r"\s{2,}"
)  # other patterns take time in proportion to the square of their length
_BREAK = re.compile(r"(?<![.!?,;:\s])[^\S\n]*(?=\n)")
_BULLET = re.compile(r"(?m)^[ \t]*(?:\d{1,2}[.)]|[-*\u2022])[ \t]+")
_SENTENCE_START = re.compile(r"(?:\A|[.!?]\s+|\n\s*)([a-z])")
# A label of up to four words and a short value on a line of its own: "Wifi password: bluefinch22". One word with a capital may be who says it.
LABELLED = re.compile(
    r"(?m)^(?P<article>(?:the|my|our|your) )?(?P<label>[^\W\d_][\w'-]*(?: [\w'-]+){0,3})(?::[ ]+|[ ]+=[ ]+)"
    r"(?=(?P<value>[^\s,]+(?: [^\s,]+){0,3}?)(?:\.?$|(?<=[^\W\d]), ))",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S+@\S+|\+?[\d ()/-]{6,}")
_DASH = re.compile(r"\s[-\u2013]\s|\u2014")
_LONGEST_WORD = 30  # characters
_LONGEST_CLAUSE = 1000  # characters
_SHORTEST_CLAUSE = 3  # words
_MARKS = frozenset(".!?,;:")
_WRAPPED = 60  # characters of a line that was broken by a program


class Repaired(NamedTuple):
    """A text, and for each of its characters where it stood in the message; one more for the end.

    `with_cues` is the same with the words that announce a correction, and with denied values.
    """

    text: str
    places: tuple[int, ...]
    with_cues: "Repaired | None" = None

    def part(self, start: int, end: int) -> "Repaired":
        """Some of its characters."""
        return Repaired(self.text[start:end], self.places[start : end + 1])

    def span(self, start: int, end: int) -> Span:
        """Where characters stood in the message as it was written."""
        return Span(start=self.places[start], end=self.places[end - 1] + 1)


class _Draft:
    """A text while it is being put right."""

    def __init__(self, text: str) -> None:
        self.text, self.places = text, list(range(len(text)))

    def replace(self, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str | None]) -> None:
        """Puts other words in the place of each match; None leaves it."""
        parts, places, done = [], [], 0
        for match in pattern.finditer(self.text):
            new = by(match)
            if new is None:
                continue
            start, end = match.span()
            last = self.places[max(start, end - 1)] if start < len(self.text) else self._end()
            parts += [self.text[done:start], new]
            places += self.places[done:start]
            word = re.split(r"[\s:=]", match[0].lower(), maxsplit=1)[0]
            lead = max(0, new.lower().find(word))  # of "My sister is" in the place of "sister:"
            places += [min(self._place(start) + max(0, n - lead), last) for n in range(len(new))]
            done = end
        self.text = "".join([*parts, self.text[done:]])
        self.places = [*places, *self.places[done:]]

    def _place(self, index: int) -> int:
        return self.places[index] if index < len(self.places) else self._end()

    def _end(self) -> int:
        return self.places[-1] if self.places else 0


def repair(text: str, *, names: Collection[str] = ()) -> Repaired:
    """Puts a message right.

    Args:
        text: What its speaker wrote, with spaces in the place of what somebody else did.
        names: Those that were written with a capital before; a message in small letters may mean them.
    """
    draft = _Draft(text.translate(_APOSTROPHES))
    is_small = not re.search(r"[A-Z](?!\b)", draft.text)
    draft.replace(_BLANKS, lambda match: "\n" if "\n" in match[0] else " ")
    draft.replace(pattern("symbols"), _instead_of_noise)
    draft.replace(_BULLET, lambda match: " " * len(match[0]))
    draft.replace(LABELLED, _labelled)
    draft.replace(_BREAK, _at_break)
    draft.replace(_words_in_haste(), _spelled_out)
    draft.replace(pattern("without_apostrophe"), lambda match: f"{match[1] or match[2]}'s")
    draft.replace(pattern("is"), lambda _: " is")
    draft.replace(pattern("noise"), _instead_of_noise)
    with_cues = Repaired(draft.text, (*draft.places, len(text)))
    for _ in range(3):
        draft.replace(pattern("fillers"), lambda _: "")
    draft.replace(pattern("contrast"), lambda match: "" if is_contrast(match) else None)
    draft.replace(pattern("run_on"), _at_run_on)
    draft.replace(
        pattern("left_out"),
        lambda match: f"I've {match[0].lower()}" if match["been"] else f"I {match[0].lower()}",
    )
    draft.replace(_DASH, lambda match: ",".ljust(len(match[0])))
    if is_small and names:
        draft.replace(_names(names), lambda match: match[0].capitalize())
    draft.replace(_SENTENCE_START, lambda match: match[0][:-1] + match[1].upper())
    return Repaired(draft.text, (*draft.places, len(text)), with_cues)


def without_symbols(text: str) -> str:
    """A value without emojis, on one line."""
    return " ".join(pattern("emoji").sub(" ", text).split())


def is_contrast(match: re.Match[str]) -> bool:
    """Whether "not" denies a value behind the right one, and no verb: between two words that are no function words."""
    before = match.string[max(0, match.start() - _LONGEST_WORD) : match.start()].split()
    words = {*before[-1:], match["denied"].split()[0]}
    is_of_verb = any("'" in word or word.lower() in stop_words() for word in words)
    return match[0].startswith(",") or not is_of_verb


def _instead_of_noise(match: re.Match[str]) -> str:
    """A stop where nothing follows, or a new sentence does; a space within one."""
    before = match.string[: match.start()].rstrip()[-1:]
    rest = match.string[match.end() : match.end() + 80]
    breaks = "\n" if "\n" in match[0] else " "
    if not before or before in _MARKS or rest[:1] in _MARKS:
        return breaks if before else ""
    is_new = not rest or breaks == "\n" or pattern("start").match(rest) is not None
    return f".{breaks}" if is_new else " "


def _labelled(match: re.Match[str]) -> str | None:
    """A label as what the speaker has: "my wifi password is"; None for one that may be a name, or of a program."""
    label, value, lexicon = match["label"].lower(), match["value"], load_lexicon()
    is_kin = label in lexicon.kin_of
    is_known = is_kin or " " in label or label in lexicon.nouns
    is_telling = match["label"] == label and (value[:1].isupper() or any(map(str.isdigit, value)))
    is_cut = match.string[match.end("value") :][:1] == "," and not value[0].isdigit()
    if ": " in value or is_cut or not (is_known or is_telling):
        return None
    owner, is_owned, _ = label.partition("'s ")
    if is_owned and match["label"][:1].isupper() and owner not in lexicon.kin_of:
        return f"{match['label']} is "  # "Mara's gate code: 4471"
    reached = _ADDRESS.fullmatch(value) if is_kin else None
    owned = "" if reached is None else "'s email" if "@" in value else "'s phone"
    return f"{match['article'] or 'My '}{label}{owned} is "


def _at_break(match: re.Match[str]) -> str | None:
    """A line break ends a sentence, unless a program has wrapped the line."""
    before = match.string[: match.start()].rpartition("\n")[2]
    following = match.string[match.end() :].lstrip()[:1]
    is_wrapped = len(before) >= _WRAPPED and following.islower()
    return None if is_wrapped or not before.strip() else "."


@lru_cache(maxsize=1)
def _words_in_haste() -> re.Pattern[str]:
    words = "|".join(map(re.escape, sorted(load_lexicon().written_in_haste, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w'.@/-])(?:{words}|i)(?![\w'@/-]|\.\w)|(?<![\w'.@/-])i(?='(?:m|ve|ll|d)\b)",
        re.IGNORECASE,
    )


def _spelled_out(match: re.Match[str]) -> str | None:
    low = match[0].lower()
    if low == "i":
        return "I"
    is_initial = match[0].isupper() and len(match[0]) > 1 and not match.string.isupper()
    full = load_lexicon().written_in_haste[low]
    return None if is_initial or (len(low) == 1 and match[0].isupper()) else full


def _at_run_on(match: re.Match[str]) -> str | None:
    """A stop between clauses of which none governs the other."""
    first = max(0, match.start() - _LONGEST_CLAUSE)
    before = re.split(r"[.!?\n]", match.string[first : match.start()])[-1]
    rest = match.string[match.end() : match.end() + _LONGEST_CLAUSE]
    after = re.split(r"[.!?\n]", rest)[0]
    words = before.lower().replace("'", " '").split()
    is_governed = not load_lexicon().governing.isdisjoint(word.strip(",;:") for word in words)
    clause = pattern("clause" if re.match(r"\s*[,;\u2013\u2014-]", match[0]) else "finite")
    is_clause = len(words) >= _SHORTEST_CLAUSE and clause.search(before) is not None
    is_question = rest[len(after) :][:1] == "?"
    return None if is_governed or not is_clause or is_question else ". "


def _names(names: Collection[str]) -> re.Pattern[str]:
    known = "|".join(re.escape(name.lower()) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w'])(?:{known})(?!\w)")
