"""Clauses: splits a message into what it asks and what it remarks, and merges the answers to both.

A score is a coverage of what was asked: words around a question must not dilute it, so each clause is a query of its
own, and what was asked counts before what was remarked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.acronyms import content_terms
from mnestic.memory.language.commands import is_command
from mnestic.memory.language.function_words import question_words
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.small_talk import is_small_talk
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.retrieval.queries import Retrieval, RetrievalQuery, RetrievedEntry
from mnestic.memory.retrieval.query_parsing import QueryWord, Terms, parse_words
from mnestic.memory.retrieval.ranking import archived_last

MOST_CLAUSES = 8  # of a message; each costs a search
_FILE = Path(__file__).with_name("clause_words.yaml")
_LEAST_WORDS = 3  # before a question within a sentence
_PART = re.compile(r"\s*[;\u2026]\s+|\s+[-\u2013\u2014]+\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_LEAST_TERMS = 3  # of a remark beside a question; "a long day" covers too much
_NAME_OR_NUMBER = re.compile(r"(?<=[^\W_.!?]\s)[^\W\da-z_](?=[^\W\d_])|\d")
_REMARK_SHARE = 0.55  # of its score that a result of a remark keeps, if the message asks something
_BEST_SHARE = 0.5  # a result of a remark below this share of the best is left out
_ENDS = frozenset(".!?:;)")
_QUESTION_MARK = re.compile("[?\uff1f\u061f\u037e\u055e]")


class _ClauseWords(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    auxiliaries: list[str]
    subjects: list[str]
    connectives: list[str]
    requests: list[str]
    pronouns: list[str]
    hearers: list[str] = Field(default=[])
    governors: list[str] = Field(default=[])
    speakers: list[str] = Field(default=[])
    reasons: list[str] = Field(default=[])


class _Patterns(NamedTuple):
    """`asking` begins a question or a request, `opening` what may be a question; `marked` and `unmarked` are where one begins within a sentence.

    `aside` begins what a speaker says about themselves: "because I was off"; `tail` is where that begins behind a question.
    """

    asking: re.Pattern[str]
    opening: re.Pattern[str]
    marked: re.Pattern[str]
    unmarked: re.Pattern[str]
    aside: re.Pattern[str]
    tail: re.Pattern[str]
    pronouns: frozenset[str]


def split_clauses(message: str) -> tuple[str, ...]:
    """The clauses of a message in their order, at most `MOST_CLAUSES`, questions before remarks if there are more.

    A message of one sentence is one clause. Small talk and commands such as "go on" are left out, and a question without words of its own, such as
    "any ideas?", goes with the clause before it.
    """
    parts = [part for sentence in split_sentences(message) for part in _split_sentence(sentence)]
    clauses = [text for text in _joined(parts) if content_terms(text) or _has_pronoun(text)]
    if any(map(is_question, clauses)):
        clauses = [clause for clause in clauses if is_question(clause) or _says_much(clause)]
    if len(clauses) <= 1:
        return (clauses[0] if clauses and len(parts) > 1 else message,)
    order = sorted(clauses, key=lambda one: (is_question(one), len(content_terms(one))))
    left_out = order[:-MOST_CLAUSES]
    for clause in left_out:
        clauses.remove(clause)
    return tuple(clauses)


def is_question(clause: str) -> bool:
    """Whether a clause asks something: by its mark, or by the words it begins with."""
    return _QUESTION_MARK.search(clause) is not None or _patterns().asking.match(clause) is not None


def parse_clauses(clauses: Sequence[str], *, asked_at: datetime) -> list[Terms]:
    """The terms of each clause of a message, with what its pronouns may stand for: the words with a capital in the nearest clause before that has some."""
    parsed: list[Terms] = []
    named: tuple[QueryWord, ...] = ()
    for clause in clauses:
        terms = parse_words(clause, asked_at=asked_at)
        parsed.append(replace(terms, named_before=named) if _has_pronoun(clause) else terms)
        named = tuple(w for w in terms.words if w.may_name and w.text.istitle()) or named
    return parsed


def _has_pronoun(text: str) -> bool:
    """Whether a clause has a pronoun for somebody named before, such as "she" or "their"."""
    pronouns = _patterns().pronouns
    return any(match[0].casefold() in pronouns for match in _WORD.finditer(text))


def merge_answers(
    clauses: Sequence[str], answers: Sequence[Retrieval], *, query: RetrievalQuery
) -> Retrieval:
    """One answer, the best first; an entry that several clauses find counts by its best score.

    Each question brings some of its results, however well another one is answered.

    Args:
        clauses: The clauses of the query's text.
        answers: The answer to each clause, found with the same filters.
        query: The query, whose limit holds for all results together.
    """
    if len(clauses) == 1:
        return answers[0]
    pairs = [*zip(clauses, answers, strict=True)]
    asked = [answer.results for clause, answer in pairs if is_question(clause)]
    remarked = [answer.results for clause, answer in pairs if not is_question(clause)]
    if asked:
        best = max((one.score for results in asked for one in results), default=0.0)
        least = max(query.min_score or 0.0, _BEST_SHARE * best)
        remarked = [tuple(_discounted(results, least=least)) for results in remarked]
    chosen: dict[str, RetrievedEntry] = {}
    for result in (*_in_turn(asked), *_by_score(remarked)):
        known = chosen.get(result.entry.id)
        if known is None or known.score < result.score:
            chosen[result.entry.id] = result
    results = archived_last(chosen.values(), is_archived=lambda one: one.archived, most=query.limit)
    periods = (answer.period for clause, answer in pairs if is_question(clause) or not asked)
    return Retrieval(
        results=tuple(_by_score([results])),
        words={word: weight for answer in answers for word, weight in answer.words.items()},
        names=tuple(dict.fromkeys(name for answer in answers for name in answer.names)),
        misspelt={slip: word for answer in answers for slip, word in answer.misspelt.items()},
        period=next((period for period in periods if period), None),
        skipped={name: why for answer in answers for name, why in answer.skipped.items()},
    )


def _says_much(text: str) -> bool:
    """Whether a remark says enough to be looked for beside a question: a few words, or a name or number."""
    return len(content_terms(text)) >= _LEAST_TERMS or _NAME_OR_NUMBER.search(text) is not None


def _split_sentence(sentence: str) -> Iterator[str]:
    """The parts of a sentence: at a semicolon or a dash, before a question that begins within it, and behind one."""
    for part in _PART.split(" ".join(sentence.split())):
        for clause in _split_at_questions(part):
            yield from _split_aside(clause)


def _split_at_questions(part: str) -> Iterator[str]:
    """The parts of a text, each with a question that begins within it; one without a mark has to begin as no statement does.

    The mark at the end of a sentence is one of each of its questions: "two things: who won, and when is it due?".
    """
    patterns, start = _patterns(), 0
    is_marked = _QUESTION_MARK.search(part) is not None
    for match in (patterns.marked if is_marked else patterns.unmarked).finditer(part):
        before = part[start : match.start()]
        is_long = len(_WORD.findall(before)) >= _LEAST_WORDS
        if is_long and (match["connective"] or not patterns.opening.match(before)):
            is_question = is_marked and patterns.opening.match(before.rpartition(": ")[2])
            yield f"{before}?" if is_question else before
            start = match.start("question")
    yield part[start:]


def _split_aside(part: str) -> Iterator[str]:
    """The question of a part, and what the speaker says behind it: "who won, I was off yesterday?"."""
    patterns = _patterns()
    aside = patterns.tail.search(part) if patterns.asking.match(part) else None
    if aside is None or len(_WORD.findall(part[: aside.start()])) < _LEAST_WORDS:
        yield part
    else:
        yield part[: aside.start()]
        yield _QUESTION_MARK.sub("", part[aside.end() :])


def _joined(parts: Sequence[str]) -> list[str]:
    """The parts without small talk and commands; a question that says too little is joined to the part before it."""
    joined: list[str] = []
    for part in parts:
        text = part.strip(" ,")
        if not text or is_small_talk(text) or is_command(text):
            continue
        if joined and _goes_on(text, before=joined[-1]):
            joined[-1] += f" {text}" if joined[-1][-1] in _ENDS else f", {text}"
        else:
            joined.append(text)
    return joined


def _goes_on(text: str, *, before: str) -> bool:
    """Whether a clause says too little by itself: a single word or number, or a question without content."""
    terms = content_terms(text)
    if _QUESTION_MARK.search(text) is None:
        is_aside = is_question(before) and _patterns().aside.match(text) is not None
        return len(terms) <= 1 and not (is_aside or is_question(text) or _has_pronoun(text))
    begins = _patterns().opening.match(text) is not None
    return not (begins and _has_pronoun(text)) if not terms else len(terms) == 1 and not begins


@cache
def _patterns() -> _Patterns:
    words = _clause_words()
    languages = read_word_lists(_FILE, _ClauseWords)
    question = rf"(?:{_either([*question_words()[name]] for name in languages)})"
    auxiliary = rf"(?:{_either(one.auxiliaries for one in words)})"
    connective = rf"(?:{_either(one.connectives for one in words)})"
    request = rf"(?:(?:can|could|would) you )?(?:please )?(?:{_either(one.requests for one in words)})\b(?!\s*(?:[,.!]|$))"
    subject = rf"(?:(?:{_either(one.subjects for one in words)})\b|[^\W\d_]+['\u2019]s\b|(?-i:[^\W\da-z_]))"
    begin = rf"\s*(?:(?:{connective}|please)\b[\s,]*)*"
    contracted = rf"{question}['\u2019]?(?:s|re|d|ve|ll)\b"
    # The verb of a question comes before its subject: "where does", "which city did", "what's", "do you", "is Ana".
    inverted = rf"{contracted}|{question}(?:\s+\w+)?\s+{auxiliary}\b|{auxiliary}\s+{subject}"
    # No statement has a verb between a question word and a subject, but behind words such as "know".
    asked = rf"{question}(?:\s+(?!{subject})\w+){{0,2}}\s+"
    hearer = rf"(?:{_either(one.hearers for one in words)})\b"
    sure = rf"(?:{contracted}|{asked}{auxiliary})\s+{subject}|{asked}(?:do|does|did)\s+\w|{auxiliary}\s+{hearer}"
    reason = rf"(?:{_either(one.reasons for one in words)})"
    speaker = rf"(?:{_either(one.speakers for one in words)})\b(?!\s*(?:,|{connective}\b))"
    free = "".join(rf"(?<!\b{word})" for one in words for word in one.governors)
    follows = rf"(?:(?P<connective>{connective})\b[\s,]*)?"
    return _Patterns(
        asking=_compiled(rf"{begin}(?:{inverted}|{sure}|{request})"),
        opening=_compiled(rf"{begin}(?:{question}(?:['\u2019]s)?|{auxiliary}|{request})\b"),
        marked=_compiled(
            rf"(?:,\s*|\s+){follows}(?P<question>{inverted}|(?<=,\s)(?:{question}|{auxiliary})\b)"
        ),
        unmarked=_compiled(rf"(?:,\s*|{free}\s+){follows}(?P<question>{sure})"),
        aside=_compiled(rf"(?:{reason}\s+)?{speaker}"),
        tail=_compiled(rf",\s*(?=(?:{reason}\s+)?{speaker})|\s+(?={reason}\s+{speaker})"),
        pronouns=frozenset(word for one in words for word in one.pronouns),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _clause_words() -> tuple[_ClauseWords, ...]:
    return tuple(read_word_lists(_FILE, _ClauseWords).values())


def _either(lists: Iterable[list[str]]) -> str:
    every = {word.replace("'", "['\u2019]") for one in lists for word in one}
    return "|".join(sorted(every, key=len, reverse=True))


def _discounted(results: Sequence[RetrievedEntry], *, least: float) -> Iterator[RetrievedEntry]:
    for one in results:
        score = round(_REMARK_SHARE * one.score, 4)
        if score >= least:
            yield one.model_copy(update={"score": score})


def _in_turn(answers: Sequence[Sequence[RetrievedEntry]]) -> Iterator[RetrievedEntry]:
    """The best result of each, then the second of each, and so on."""
    for place in range(max(map(len, answers), default=0)):
        yield from (results[place] for results in answers if place < len(results))


def _by_score(answers: Sequence[Sequence[RetrievedEntry]]) -> list[RetrievedEntry]:
    """All results, the best first; archived ones follow the live ones."""
    results = [one for answer in answers for one in answer]
    return sorted(results, key=lambda one: (one.archived, -one.score))
