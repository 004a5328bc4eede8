"""Occasions and attributes: birthdays, weddings, departures, couples, and what "my …" or "the …" is.

They stand apart from the patterns because a date, or two people together, is the object here.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from mnestic.activities.clients.rules.clauses import Clause
from mnestic.activities.clients.rules.lexicon import MEETINGS, PETS
from mnestic.activities.clients.rules.meanings import Setting, can_be, claim, read_values
from mnestic.activities.clients.rules.patterns import BY_NOUN
from mnestic.activities.clients.rules.subjects import Subject
from mnestic.activities.clients.rules.times import Times, times_of
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.dates import Period
from mnestic.memory.language.numbers import CARDINAL

_FAVOURITES = {
    "color": "colour",
    "movie": "film",
    "meal": "food",
    "dish": "food",
    "ice cream": "ice_cream",
}
_NOTHING_LEFT = re.compile(
    r"[\s|,.]*(?:(?:now|instead)\b[\s|,.]*)?"
    rf"(?:$|[,.]|and\b|but\b|so\b|at (?:\d|noon\b|midnight\b|\w+ (?:o'clock|in the)|{CARDINAL}\s*(?:$|[,.])))"
)
_TOGETHER = re.compile(r"(?:all |very |really )?(?:together|a couple|an item|dating|going out)\b")
# A state by itself: "engaged in a debate", "single-minded" and "divorced from reality" are none.
_STATUS = re.compile(
    r"(?P<x>engaged|married|single|divorced|widowed)(?![\w'-])(?=[^\w'-]*(?:$|(?:and|but|so|now|again|too|since|for|these days|at the moment|because|already|twice|"
    r"when|after|until|last|this|young|any ?more|any longer|from [A-Z]|with (?:\w+ )?(?:kids?|child(?:ren)?|sons?|daughters?|baby))\b)|\s*[^\w\s'-])"
)
_NAMED = re.compile(r"(?:called|named)\s+(?P<x>[A-Z][\w-]*)")
_SPLIT = re.compile(r"(?:up|separated|divorced)\b(?! with)")
_SHIFTED = re.compile(
    r"\s*(?:moved|pushed|rescheduled|postponed|brought forward|shifted|delayed|extended)(?: back| forward)?(?: to)?\s*(?:until |till )?\|"
)
_PUT_OFF = re.compile(
    r"\s*(?P<whose>the|my|our) (?P<noun>(?:[a-z-]+ ){0,2}?[a-z]+(?: (?:of|for) (?:the |our |my )?(?:[\w-]+ ){0,2}?[\w-]+)?)"
    r"(?: back| forward)?(?: to| until| till)?\s*\|"
)
_DEADLINE = re.compile(
    r"(?:(?P<what>.+?)(?:'s)? )?(?:deadline|due date)(?: (?:of|for) (?:the |our |my )?(?P<of>.+))?$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"(?P<what>capital|price|version) of (?P<of>[A-Z][\w -]{1,40})$")
_VALUE = re.compile(r"\s*(?P<x>[^\s|,;!?()_][^|,;!?()_]{0,40}?)(?:\.?\s*$|[,;|])")
_NEW = re.compile(r"^(?:new|current|own|real|actual) ", re.IGNORECASE)
_MY_FAVOURITE = re.compile(
    r"my (?:all[- ]time )?favou?rite (?P<what>[a-z]+)(?=\s*(?:$|[,.|!]|and\b|but\b))", re.IGNORECASE
)
_PUTS_OFF = frozenset({"postpone", "move", "push", "reschedule", "shift", "delay", "extend"})
_PARTINGS = frozenset({"break", "split", "get", "separate", "divorce"})
_NO_MORE = re.compile(r"any ?more|any longer", re.IGNORECASE)


def occasions_of(clause: Clause, setting: Setting) -> Iterator[Extracted]:
    """The claims of a clause about dates, couples and attributes."""
    times = times_of(clause, setting.at)
    if clause.subject.noun:
        if clause.verb.mood != "plain":
            return
        if clause.verb.is_negated or clause.verb.is_past:
            if (
                clause.verb.lemma == "be"
                and clause.verb.tense == "present"
                and clause.subject.names
            ):
                yield from _attribute(clause, setting, "ended")
        else:
            yield from _of_noun(clause, times, setting)
    elif clause.subject.names:
        yield from _born(clause, times, setting)
        yield from _is_favourite(clause, setting)
        yield from _couple(clause, times, setting)
        yield from _departure(clause, times, setting)
        yield from _put_off(clause, setting)


def _of_noun(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    noun, names = clause.subject.noun.casefold(), clause.subject.names
    is_now = clause.verb.lemma == "be" and clause.verb.tense == "present"
    if is_now and names:
        yield from _attribute(clause, setting, "corrected" if setting.is_correction else "affirmed")
    if is_now and noun.split()[-1] in PETS and (named := _NAMED.match(clause.rest)):
        yield claim(clause, named["x"], "is_a", noun.split()[-1])
    about, value = _ABOUT.match(clause.subject.noun), _VALUE.match(clause.rest)
    if is_now and not names and about and value:
        yield claim(clause, about["of"], about["what"], value["x"])
    if clause.verb.lemma in {"be", "get"} and _SHIFTED.match(clause.rest):
        clause = replace(clause, verb=replace(clause.verb, lemma="move", tense="future"))
        times = times_of(clause, setting.at)
        times = replace(times, on=times.on or times.until)
    yield from _date_of_noun(clause, times, setting)


def _attribute(clause: Clause, setting: Setting, kind: ClaimKind) -> Iterator[Extracted]:
    for noun, rest, predicate, reading in BY_NOUN:
        match, value = noun.match(_NEW.sub("", clause.subject.noun)), rest.match(clause.rest)
        if not match or not value:
            continue
        if predicate == "full_name" and not _is_own_name(value["x"], clause, setting):
            return
        name = predicate
        if predicate == "favourite":
            what = match["what"].casefold()
            name = f"favourite_{_FAVOURITES.get(what, what).replace(' ', '_')}"
        values = read_values(value["x"], reading, predicate=predicate)
        if predicate == "favourite":  # a noun after it, and not the beginning of a sentence
            values = [each for each in values if " of " not in each]
        for each in values:
            yield claim(clause, clause.subject.names[0], name, each, kind=kind)
        return


def _put_off(clause: Clause, setting: Setting) -> Iterator[Extracted]:
    """As in "We've postponed the wedding to 12 September"."""
    verb, found = clause.verb, _PUT_OFF.match(clause.rest)
    is_told = verb.tense == "past" and verb.mood == "plain" and not verb.is_negated
    if found is None or not is_told or verb.lemma not in _PUTS_OFF:
        return
    noun = found["noun"]
    is_own = found["whose"] != "the" or noun.endswith("wedding")
    subject = Subject(clause.subject.names[:1] if is_own else (), noun=noun)
    ahead = replace(verb, lemma="move", tense="future")
    moved = replace(clause, subject=subject, verb=ahead)
    times = times_of(moved, setting.at)
    yield from _date_of_noun(moved, replace(times, on=times.on or times.until), setting)


def _is_own_name(name: str, clause: Clause, setting: Setting) -> bool:
    """Whether a name can be the speaker's; of somebody else, the name is who it is."""
    speaker = setting.cast.speaker
    return clause.subject.names[0] == speaker and can_be(speaker, name)


def _is_favourite(clause: Clause, setting: Setting) -> Iterator[Extracted]:
    """As in "green is my favourite colour"."""
    match = _MY_FAVOURITE.match(clause.rest)
    verb = clause.verb
    if match and verb.lemma == "be" and verb.tense == "present" and not verb.is_negated:
        what = match["what"].casefold()
        name = f"favourite_{_FAVOURITES.get(what, what).replace(' ', '_')}"
        yield claim(clause, setting.cast.speaker, name, clause.subject.names[0])


def _date_of_noun(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    """As in "My birthday is on …", "the operation is next Tuesday", "the report is due on …"."""
    names, noun = clause.subject.names, clause.subject.noun.casefold()
    verb, day = clause.verb, times.on
    is_due = verb.lemma == "be" and clause.rest.lstrip().startswith("due")
    deadline = _DEADLINE.match(clause.subject.noun)
    what = deadline and (deadline["of"] or deadline["what"])
    if (
        day is None
        or day.unit not in {"day", "month"}
        or (verb.tense == "past" and not verb.is_perfect)
    ):
        return
    if verb.lemma == "be" and not is_due and not _NOTHING_LEFT.match(clause.rest):
        return
    owner = names[0] if names else ""
    is_correction = bool(setting.is_correction or re.search(r"\bnot\b", clause.rest))
    kind: ClaimKind = "corrected" if is_correction else "affirmed"
    if noun == "birthday" and owner and day.unit == "day":
        yield claim(clause, owner, "birthday", _yearless(day), kind=kind)
    elif noun.endswith("wedding") and owner:
        yield claim(clause, owner, "wedding_date", str(day), kind=kind)
    elif is_due or what:
        noun = what or clause.subject.noun
        subject = f"{owner}'s {noun}" if owner else noun
        yield claim(clause, subject, "due_date", str(day), kind=kind)
    elif noun.split()[-1] in MEETINGS and verb.lemma in {"be", "take", "start", "move"}:
        subject = f"{owner}'s {clause.subject.noun}" if owner else clause.subject.noun
        yield claim(clause, subject, "happens_on", str(day), kind=kind)


def _yearless(day: Period) -> str:
    return f"{day.start.day} {day.start:%B}"


def _born(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    if clause.verb.lemma != "be" or not clause.rest.startswith("born") or clause.verb.is_negated:
        return
    if times.on and times.on.unit == "day" and len(clause.subject.names) == 1:
        kind: ClaimKind = "corrected" if setting.is_correction else "affirmed"
        yield claim(clause, clause.subject.names[0], "birthday", str(times.on), kind=kind)


def _couple(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    """Who is with whom, and who is not any more."""
    verb, rest = clause.verb, clause.rest.lstrip()
    if verb.lemma == "marry" or (verb.lemma == "get" and rest.startswith("married")):
        yield from _wedding(clause, times, setting)
    if verb.mood != "plain" or verb.tense == "future":
        return
    status, is_got = _STATUS.match(rest), verb.lemma == "get"
    is_so = verb.tense == "present" or verb.is_perfect or is_got
    if verb.lemma in _PARTINGS and verb.tense == "past" and _is_parting(clause):
        yield from _parted(clause, times)
    elif status and verb.lemma in {"be", "get"} and is_so and not (is_got and verb.tense != "past"):
        yield from _status(clause, times, status["x"])
    elif (verb.lemma == "be" and _TOGETHER.match(rest)) or (
        verb.lemma == "go" and rest.startswith("out")
    ):
        yield from _together(clause, times, setting)


def _is_parting(clause: Clause) -> bool:
    is_said = clause.verb.lemma in {"separate", "divorce"} or _SPLIT.match(clause.rest.lstrip())
    return bool(is_said) and not clause.verb.is_negated


def _together(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    verb = clause.verb
    if verb.is_past or (verb.is_negated and _NO_MORE.search(clause.rest)):
        yield from _parted(clause, times)
        return
    whom = clause.subject.with_speaker or setting.cast.only_person()
    is_so = verb.tense == "present" or times.since is not None
    if whom and is_so and not verb.is_negated and _is_we(clause):
        begins = times.begins if times.since else None
        yield claim(clause, clause.subject.names[0], "partner", whom, begins=begins)


def _is_we(clause: Clause) -> bool:
    """Whether two are meant: "I am going out" is none."""
    return bool(clause.subject.with_speaker) or clause.subject.is_plural


def _status(clause: Clause, times: Times, status: str) -> Iterator[Extracted]:
    verb, whom, subject = clause.verb, clause.subject.with_speaker, clause.subject.names[0]
    begins = times.begins if times.since or verb.lemma == "get" else None
    predicate = {"engaged": "engaged_to", "married": "married_to"}.get(status)
    if verb.is_negated or verb.is_past:
        if verb.is_past or _NO_MORE.search(clause.rest):
            yield claim(clause, subject, "relationship_status", status, kind="ended")
            if predicate:
                yield claim(clause, subject, predicate, None, kind="ended")
        return
    if whom and predicate:
        yield claim(clause, subject, predicate, whom, begins=begins)
    yield claim(clause, subject, "relationship_status", status, begins=begins)
    if status == "divorced":
        yield claim(clause, subject, "married_to", None, kind="ended")


def _parted(clause: Clause, times: Times) -> Iterator[Extracted]:
    subject, whom = clause.subject.names[0], clause.subject.with_speaker
    yield claim(clause, subject, "partner", whom or None, kind="ended", ends=times.begins)
    if clause.verb.lemma == "divorce" or "divorce" in clause.rest:
        yield claim(clause, subject, "married_to", None, kind="ended", ends=times.begins)
        yield claim(clause, subject, "relationship_status", "divorced", begins=times.begins)


def _wedding(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    verb, day = clause.verb, times.on
    if (
        day is None
        or verb.is_negated
        or verb.mood not in {"plain", "plan", "wish"}
        or day.unit not in {"day", "month"}
    ):
        return
    kind: ClaimKind = "corrected" if setting.is_correction else "affirmed"
    yield claim(clause, clause.subject.names[0], "wedding_date", str(day), kind=kind)


def _departure(clause: Clause, times: Times, setting: Setting) -> Iterator[Extracted]:
    """As in "We fly on the 4th": when the speaker's next journey is, whose goal other words told."""
    verb, day = clause.verb, times.on
    is_goal_less = _NOTHING_LEFT.match(clause.rest) is not None
    if verb.lemma not in {"fly", "go", "travel", "leave"} or day is None or not is_goal_less:
        return
    if (
        verb.tense == "past"
        or verb.is_negated
        or verb.mood not in {"plain", "plan"}
        or day.end <= setting.at
    ):
        return
    if clause.subject.person == "first" and day.unit in {"day", "week"}:
        kind: ClaimKind = "corrected" if setting.is_correction else "affirmed"
        yield claim(clause, clause.subject.names[0], "travel_date", str(day), kind=kind)
