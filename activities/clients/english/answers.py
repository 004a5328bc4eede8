"""Answers: a short answer joined with the question before it to one statement, which is read like any other.

It works on words alone: "What laptop do you use?" and "A ThinkPad X13." say "My laptop is a ThinkPad X13."
"""

import re
from collections.abc import Callable, Mapping

from mnestic.activities.clients.english.lexicon import load_lexicon, without
from mnestic.memory.language.commands import is_command
from mnestic.memory.language.small_talk import is_small_talk

_LONGEST = 12  # words of an answer
_LONGEST_QUESTION = 16
_WH = r"(?:what|which|who|whom|where|when)"
_DO = r"(?:do|does)"
_OWNED = re.compile(
    rf"(?:what|which) (?P<noun>[\w -]+?) {_DO} (?P<who>you|[\w' ]+?) (?:use|have|drive|speak|play|study|like|own|prefer)\W*$",
    re.IGNORECASE,
)
_IS_OWNED = re.compile(
    rf"{_WH}(?:'s| is| are| was) (?P<who>your|[\w' ]+?'s) (?P<noun>[\w -]+)\W*$", re.IGNORECASE
)
_WH_DO = re.compile(
    rf"{_WH} {_DO} (?P<who>you|[\w']+(?: [\w']+)?) (?P<rest>[\w ]+)\W*$", re.IGNORECASE
)
_WH_BE = re.compile(
    rf"{_WH}(?: are| is|'re|'s) (?P<who>you|he|she|[\w']+) (?P<rest>[\w ]+)\W*$", re.IGNORECASE
)
_HOW_OLD = re.compile(r"how old (?:are|is) (?P<who>you|[\w' ]+?)\W*$", re.IGNORECASE)
_YES_NO = re.compile(
    r"(?P<aux>do|does|are|is|have|has) (?P<who>you|he|she|[\w']+(?: [\w']+)?) (?P<rest>[^?]+)\W*$",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?P<who>you|[A-Z]\w+)(?P<rest>(?: |')[^?]+)\?$")
_VERBS: Mapping[str, str] = {
    "where work": "at",
    "where study": "at",
    "where live": "in",
    "where come": "",
}
_COUNT = re.compile(r"^(?:\d+|one|two|three|four|five|several|both),\s*", re.IGNORECASE)


def statement_of(question: str, answer: str) -> str | None:
    """What an answer says together with its question; None if they are no such pair."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(question.split()))
    asked = without(sentences[-1], "lead")
    said = " ".join(answer.split())
    is_empty = is_small_talk(said) or is_command(said)
    if is_empty and said.lower().strip(" .!") not in load_lexicon().answers:
        return None
    if (
        not asked.endswith("?")
        or len(asked.split()) > _LONGEST_QUESTION
        or len(said.split()) > _LONGEST
        or said.endswith("?")
    ):
        return None
    word, rest = _yes_or_no(said)
    stated = _of_yes_no(asked, word, rest) if word or _YES_NO.match(asked) else None
    return stated or (None if word == "no" else _of_wh(asked, rest))


def _yes_or_no(answer: str) -> tuple[str, str]:
    """Whether an answer begins with yes or no, and what follows."""
    first = re.match(r"([A-Za-z]+)[\s,.!]*", answer)
    word = load_lexicon().answers.get(first[1].lower(), "") if first else ""
    return word, answer[first.end() :] if first and word else answer


def _of_wh(asked: str, value: str) -> str | None:
    value = value.strip()
    first = re.split(r"\W", value.lower(), maxsplit=1)[0]
    if not value or first in load_lexicon().vague | {"we", "my", "not"}:
        return None
    for pattern, stated in _STATED:
        if found := pattern.match(asked):
            return stated(found, value)
    return None


def _of_age(found: re.Match[str], value: str) -> str:
    return f"{_subject(found['who'])} {_be(found['who'])} {value.split(maxsplit=1)[0].strip('.,')} years old."


def _of_owned(found: re.Match[str], value: str) -> str:
    return f"{_owner(found['who'])} {found['noun']} is {value}"


def _of_wh_be(found: re.Match[str], value: str) -> str:
    is_where = found[0].lower().startswith("where")
    is_placed = re.search(r"\b(?:from|at|in)\W*$", found["rest"])
    place = "in " if is_where and not is_placed else ""
    return f"{_subject(found['who'])} {_be(found['who'])} {found['rest'].strip()} {place}{value}"


def _of_wh_do(found: re.Match[str], value: str) -> str:
    word, rest = found[0].split(maxsplit=1)[0].lower(), found["rest"].strip()
    if re.fullmatch(r"do(?: for (?:a living|work))?", rest):
        return f"{_subject(found['who'])} {_be(found['who'])} {value}"
    preposition = _VERBS.get(f"{word} {rest.split()[0]}", "in" if word == "where" else "")
    has_own = re.match(r"(?:in|at|on|for|to|near|from)\b", value, re.IGNORECASE)
    ending = "" if found["who"].lower() == "you" else "s"
    verb = re.sub(r"^\w+", lambda match: match[0] + ending, rest)
    return " ".join(
        part
        for part in (_subject(found["who"]), verb, "" if has_own else preposition, value)
        if part
    )


def _of_yes_no(asked: str, word: str, rest: str) -> str | None:
    """As in "Are you allergic to anything?" "Yes, hazelnuts."; "So you live in Gronau?" "No, Ahaus."."""
    found = _YES_NO.match(asked)
    plain = None if found else _PLAIN.match(asked)
    if found is None and plain is None:
        return None
    match = found or plain
    who, said = (match["who"], match["rest"].strip().rstrip("?")) if match else ("", "")
    aux = found["aux"].lower() if found else ""
    verb = "" if aux in {"", "do", "does"} else f"{_be(who)} " if aux in {"are", "is"} else "have "
    ending = "s" if found and aux == "does" else ""
    clause = f"{_subject(who)} {verb}{re.sub(r'^[a-z]+', lambda match: match[0] + ending, said) if ending else said}"
    value = _COUNT.sub("", rest.strip())
    asked_for = "|".join(sorted(load_lexicon().asked_for, key=len, reverse=True))
    gap = re.search(rf"\b(?:{asked_for})\b", clause, re.IGNORECASE)
    if not value.strip(" .!"):
        return f"{clause}." if word == "yes" and gap is None else None
    if gap is not None:
        return f"{clause[: gap.start()]}{value}" if word != "no" else None
    if word == "yes":
        return f"{clause} {value}" if re.match(r"(?:to|in|at|with|for|since|on)\b", value) else None
    last = re.search(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)*$", clause)
    return (
        f"{clause[: last.start()]}{value}"
        if word == "no" and last and value[:1].isupper()
        else None
    )


def _subject(who: str) -> str:
    return "I" if who.lower() == "you" else who[:1].upper() + who[1:]


def _owner(who: str) -> str:
    if who.lower() in {"you", "your"}:
        return "My"
    return who if who.endswith("'s") else f"{who}'s"


def _be(who: str) -> str:
    return "am" if who.lower() == "you" else "is"


_STATED: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], str]], ...] = (
    (_HOW_OLD, _of_age),
    (_OWNED, _of_owned),
    (_IS_OWNED, _of_owned),
    (_WH_DO, _of_wh_do),
    (_WH_BE, _of_wh_be),
)
