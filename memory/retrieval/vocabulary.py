"""The vocabulary of a question: its words as they are stored, and how telling each is.

It is pure, and stands apart from reading the question because it depends on what the agent's memory knows.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from mnestic.memory.language.languages import LANGUAGE, LanguageVote, content_words
from mnestic.memory.language.terms import STOP_WORDS
from mnestic.memory.retrieval.search import QueryLexeme, ResolvedTerms, Suggestions, Vocabulary

_MOST_WORDS = 60  # of a question, the most telling; each has a bit
_GUESSED = 0.8  # of a word's weight, where it was misspelt
_SHORTEST = 4  # characters; of a shorter function word letters only change places
_FUNCTION_WORDS = [word for word in STOP_WORDS if len(word) >= _SHORTEST]


def unknown_lexemes(
    words: Sequence[str], known: ResolvedTerms, *, slips: Collection[str], quiet: Collection[str]
) -> frozenset[str]:
    """The lexemes that no entry has, of the words that may be misspelt."""
    return frozenset(
        lexeme
        for word, entries_of in _telling(words, known, quiet=quiet)
        if word in slips and not any(entries_of.values())
        for lexeme in entries_of
    )


def vocabulary_of(
    words: Sequence[str],
    known: ResolvedTerms,
    *,
    slips: Collection[str] = (),
    quiet: Collection[str] = (),
    suggested: Suggestions | None = None,
) -> Vocabulary:
    """The words of a question as they are stored in each language of the agent's entries.

    Those that say nothing in the question's language are left out, and in English also `quiet` ones.

    Args:
        words: Those of the question, without names.
        known: What the agent's memory knows of them.
        slips: Those that may be misspelt: where they are not known they are read as what is suggested.
        quiet: Those that say nothing in English.
        suggested: What lexemes that no entry has may be meant as.
    """
    if not known.entries:
        return Vocabulary()
    meant = suggested.lexemes if suggested else {}
    telling = [
        (word, entries_of)
        for word, entries_of in _telling(words, known, quiet=quiet)
        if not (
            word in slips
            and _is_function_slip(word, entries_of, meant, is_first=word == words[0], known=known)
        )
    ]
    asked: list[QueryLexeme] = []
    misspelt: dict[str, str] = {}
    for word, entries_of in telling:
        lexemes, entries, share = tuple(entries_of), sum(entries_of.values()), 1.0
        if any(set(lexemes) & set(other.lexemes) for other in asked):
            continue
        if not entries and word in slips:
            alike = next((meant[each] for each in lexemes if meant.get(each)), {})
            if any(set(alike) & set(other.lexemes) for other in asked):
                continue
            if alike:
                share, entries, lexemes = _GUESSED, max(alike.values()), tuple(alike)
                misspelt[word] = ", ".join(alike)
        is_whole = len(known.words[word]) == 1 and (entries or word not in slips)
        asked.append(
            QueryLexeme(
                lexemes=lexemes,
                weight=share * _rarity(min(entries, known.entries), of=known.entries),
                is_known=bool(entries),
                word=word if is_whole and word not in misspelt else "",
            )
        )
    best = sorted(asked, key=lambda one: one.weight, reverse=True)[:_MOST_WORDS]
    return Vocabulary(
        query_lexemes=tuple(best),
        misspelt=misspelt,
        silent=frozenset(words).difference(word for word, _ in telling),
        average_length=max(1.0, known.lexemes / known.entries),
    )


def _telling(
    words: Sequence[str], known: ResolvedTerms, *, quiet: Collection[str]
) -> Iterator[tuple[str, dict[str, int]]]:
    """The words that say something, each with its lexemes in the agent's languages, and how many entries have them."""
    found = []
    for word in words:
        for part in known.words.get(word, ()):
            read = {
                name: one for name, one in part.items() if name != LANGUAGE or word not in quiet
            }
            mine = {
                one.lexeme: one.entries for name, one in read.items() if name in known.languages
            }
            found.append((word, mine, LanguageVote(read.keys(), is_known=any(mine.values()))))
    says = content_words([one for *_, one in found], {LANGUAGE, *known.languages})
    for (word, mine, _), is_telling in zip(found, says, strict=True):
        if is_telling and mine:
            yield word, mine


def _is_function_slip(
    word: str,
    entries_of: Mapping[str, int],
    meant: Mapping[str, Mapping[str, int]],
    *,
    is_first: bool,
    known: ResolvedTerms,
) -> bool:
    """Whether an unknown word is an English function word with a slip in it, such as *wich* or *teh*."""
    if any(entries_of.values()) or LANGUAGE not in known.languages:
        return False
    if not (word.islower() or is_first):
        return False
    if any(one.startswith(each) for each in entries_of for one in meant.get(each, ())):
        return False  # it begins what is known
    folded = word.casefold()
    if len(folded) < _SHORTEST:
        return any(
            OSA.distance(folded, one) == 1 for one in STOP_WORDS if sorted(one) == sorted(folded)
        )
    near = process.extractOne(folded, _FUNCTION_WORDS, scorer=OSA.distance, score_cutoff=1)
    return near is not None and near[0][0] == folded[0]


def _rarity(entries: int, *, of: int) -> float:
    """How telling a lexeme is. Source: BM25; of one that nothing has, as if half an entry had it."""
    if not entries:
        return math.log(1 + of)
    return math.log(1 + (of - entries + 0.5) / (entries + 0.5))
