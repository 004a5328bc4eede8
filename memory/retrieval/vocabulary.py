"""The vocabulary of a query: its words as lexemes of the index, with their inverse document frequencies.

The functions are pure. Parsing a query needs its text alone; this also needs what the agent's memory knows.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from mnestic.memory.language.function_words import (
    elided_words,
    find_function_words,
    stop_words,
)
from mnestic.memory.language.languages import LANGUAGE, LanguageVote, content_words
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.language.word_forms import other_forms
from mnestic.memory.retrieval.exact_terms import spellings
from mnestic.memory.retrieval.search import (
    LexemeMatch,
    QueryLexeme,
    ResolvedTerms,
    Suggestions,
    Vocabulary,
)

_MOST_WORDS = 60  # of a query, those with the highest weights; each has a bit
_GUESSED = 0.8  # of the weight of a word that was misspelt
_SHORTEST = 4  # characters; in a shorter function word only swapped letters count as a misspelling


def unknown_lexemes(
    words: Sequence[str],
    known: ResolvedTerms,
    *,
    misspellings: Collection[str],
    stop_words: Collection[str],
) -> frozenset[str]:
    """The lexemes of possibly misspelt words that no entry has."""
    if not misspellings:
        return frozenset()
    return frozenset(
        lexeme
        for word, entries_of in _content_words(words, known, stop_words=stop_words)
        if word in misspellings and not any(entries_of.values())
        for lexeme in entries_of
    )


def vocabulary_of(
    words: Sequence[str],
    known: ResolvedTerms,
    *,
    misspellings: Collection[str] = (),
    stop_words: Collection[str] = (),
    suggested: Suggestions | None = None,
    identifiers: Collection[str] = (),
) -> Vocabulary:
    """The words of a query as lexemes, in each language of the agent's entries.

    Words without meaning in the query's language are left out, in English also `stop_words`.

    Args:
        words: The words of the query, without names.
        known: The words as the agent's memory knows them.
        misspellings: Words that may be misspelt; if they are unknown, the suggestions replace them.
        stop_words: Words without meaning in English.
        suggested: Corrections of lexemes that no entry has.
        identifiers: Words that are matched whole: their parts do not count by themselves.
    """
    if not known.entries:
        return Vocabulary()
    meant = suggested.lexemes if suggested else {}
    is_english = not find_function_words(words)
    content = [
        (word, entries_of)
        for word, entries_of in _content_words(
            words, known, stop_words=stop_words, identifiers=identifiers
        )
        if not (
            is_english
            and word in misspellings
            and _is_misspelt_function_word(
                word, entries_of, meant, is_first=word == words[0], known=known
            )
        )
    ]
    query_lexemes: list[QueryLexeme] = []
    misspelt: dict[str, str] = {}
    for word, entries_of in content:
        lexemes, entries, share = tuple(entries_of), sum(entries_of.values()), 1.0
        if any(set(lexemes) & set(other.lexemes) for other in query_lexemes):
            continue
        if not entries and word in misspellings:
            alike = next((meant[each] for each in lexemes if meant.get(each)), {})
            if any(set(alike) & set(other.lexemes) for other in query_lexemes):
                continue
            if alike:
                share, entries, lexemes = _GUESSED, max(alike.values()), tuple(alike)
                misspelt[word] = ", ".join(alike)
        is_whole = len(known.words.get(word, ())) == 1 and (entries or word not in misspellings)
        query_lexemes.append(
            QueryLexeme(
                lexemes=lexemes,
                weight=share * _rarity(min(entries, known.entries), of=known.entries),
                is_known=bool(entries),
                word=word if is_whole and word not in misspelt else "",
                is_acronym=word in known.acronyms,
            )
        )
    best = sorted(query_lexemes, key=lambda one: one.weight, reverse=True)[:_MOST_WORDS]
    return Vocabulary(
        query_lexemes=tuple(best),
        misspelt=misspelt,
        silent=frozenset(words).difference(word for word, _ in content),
        average_length=max(1.0, known.lexemes / known.entries),
    )


def _content_words(
    words: Sequence[str],
    known: ResolvedTerms,
    *,
    stop_words: Collection[str],
    identifiers: Collection[str] = (),
) -> Iterator[tuple[str, dict[str, int]]]:
    """The words with a meaning, each with its lexemes in the agent's languages and how many entries have them."""
    found, silent = [], find_function_words(words)
    for word in words:
        if acronym := known.acronyms.get(word):
            found.append((word, dict([acronym]), LanguageVote(known.languages, is_known=True)))
            continue
        if word in identifiers:
            mine = _written(word, known)
            found.append((word, mine, LanguageVote(known.languages, is_known=any(mine.values()))))
            continue
        if word in silent:
            continue
        for part in _content_parts(word, known):
            read = {
                name: one
                for name, one in part.items()
                if name != LANGUAGE or word not in stop_words
            }
            mine = {
                one.lexeme: one.entries for name, one in read.items() if name in known.languages
            }
            is_english = LANGUAGE in read and not silent
            mine |= _other_forms(word, known) if is_english and _may_be_verb(word, words) else {}
            found.append((word, mine, LanguageVote(read.keys(), is_known=any(mine.values()))))
    says = content_words([one for *_, one in found], {LANGUAGE, *known.languages})
    for (word, mine, _), is_content in zip(found, says, strict=True):
        if is_content and mine:
            yield word, mine


def _may_be_verb(word: str, words: Sequence[str]) -> bool:
    """Whether a word has no capital within the question, and follows no article: *the Met*, *a ring*."""
    place = words.index(word)
    follows_article = place > 0 and words[place - 1].casefold() in query_lists().articles
    return place == 0 or (word.islower() and not follows_article)


def _other_forms(word: str, known: ResolvedTerms) -> dict[str, int]:
    """The lexemes of other forms of an English verb, and how many entries have them."""
    if LANGUAGE not in known.languages:
        return {}
    parts = (part for form in other_forms(word.casefold()) for part in known.words.get(form, ()))
    return dict(part[LANGUAGE] for part in parts if LANGUAGE in part)


def _content_parts(word: str, known: ResolvedTerms) -> Iterator[Mapping[str, LexemeMatch]]:
    """The parts of a word without elided ones."""
    elided = elided_words(word)
    for part in known.words.get(word, ()):
        if not {one.lexeme for one in part.values()} <= elided:
            yield part


def _written(identifier: str, known: ResolvedTerms) -> dict[str, int]:
    """The lexemes of an identifier in each of its spellings: of each the longest with a digit, or else the longest."""
    mine: dict[str, int] = {}
    for spelling in spellings(identifier):
        parts = [one for part in known.words.get(spelling, ()) for one in part.values()]
        with_digit = [one for one in parts if any(map(str.isdigit, one.lexeme))]
        longest = max((len(one.lexeme) for one in with_digit or parts), default=0)
        mine |= {
            one.lexeme: one.entries for one in with_digit or parts if len(one.lexeme) == longest
        }
    return mine


def _is_misspelt_function_word(
    word: str,
    entries_of: Mapping[str, int],
    meant: Mapping[str, Mapping[str, int]],
    *,
    is_first: bool,
    known: ResolvedTerms,
) -> bool:
    """Whether an unknown word is a misspelt English function word, such as *wich* or *teh*."""
    if any(entries_of.values()) or LANGUAGE not in known.languages:
        return False
    if not (word.islower() or is_first):
        return False
    if any(one.startswith(each) for each in entries_of for one in meant.get(each, ())):
        return False  # it begins what is known
    folded = word.casefold()
    if len(folded) < _SHORTEST:
        return any(
            OSA.distance(folded, one) == 1 for one in stop_words() if sorted(one) == sorted(folded)
        )
    long = [one for one in stop_words() if len(one) >= _SHORTEST]
    near = process.extractOne(folded, long, scorer=OSA.distance, score_cutoff=1)
    return near is not None and near[0][0] == folded[0]


def _rarity(entries: int, *, of: int) -> float:
    """The inverse document frequency of a lexeme. Source: BM25; if no entry has it, as if half an entry had it."""
    if not entries:
        return math.log(1 + of)
    return math.log(1 + (of - entries + 0.5) / (entries + 0.5))
