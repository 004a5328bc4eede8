"""The words and names of an agent's memory: which of a question are known, and as what.

They stand apart from the search, since words are found by what they look like.
"""

import math
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA
from sqlalchemy import text

from mnestic.memory.asked_languages import LANGUAGE, ReadWord, tells
from mnestic.memory.claims import name_key
from mnestic.memory.search import AskedLexeme, Known, Vocabulary
from mnestic.memory.slips import may_be_another, most_slips
from mnestic.memory.terms import STOP_WORDS
from mnestic.stores.postgres.connections import Asked
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.unit import Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_SHORTEST_MISSPELT = 4  # characters; nothing shorter is taken for misspelt
_MOST_WORDS = 60  # of a question, the most telling; each has a bit
_MOST_SLIPS = 20  # words of a question that are taken for misspelt
_STRIDE = 20  # rows of an index; to look for the next name takes as long as to read some
_PIECE, _NAMES_PIECE = 5000, 500  # entries, or entries of words, and names that are told at once
MOST_NAMED = 30  # entries that a name brings, the newest
_MOST_BEGUN = 3  # lexemes that the beginning of a word stands for
_FUNCTION_WORDS = [word for word in STOP_WORDS if len(word) >= _SHORTEST_MISSPELT]
# Vowels that are written before the consonant that they follow, and with which collations put words in the place of
# that one (Unicode's Logical_Order_Exception: Thai, Lao, New Tai Lue, Tai Viet).
_BEFORE = frozenset(
    "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4\u19b5\u19b6\u19b7\u19ba\uaab5\uaab6\uaab9\uaabb\uaabc"
)
_SURROGATES = 0xD800  # the first of the numbers up to 0xE000, which are no characters
_GUESSED = 0.8  # of a word's weight, where it was misspelt

# Names by strides of their index, each from the last name of the one before, however many entries are about each.
_NAMED = f"""
SELECT array_agg(DISTINCT term) AS terms FROM unnest(ARRAY['subject', 'alias']) AS k (kind) CROSS JOIN LATERAL (
    WITH RECURSIVE stride AS (
        SELECT CAST(:first AS text) AS last, CAST(NULL AS text[]) AS terms
         UNION ALL
        SELECT next.last, next.terms FROM stride CROSS JOIN LATERAL (
            SELECT max(term) AS last, array_agg(term) AS terms FROM (
                SELECT term FROM mnestic.entry_term
                 WHERE {_MINE} AND kind = k.kind AND term > stride.last {{below}}
                 ORDER BY term LIMIT {_STRIDE}
            ) AS rows_from_there
        ) AS next WHERE next.last IS NOT NULL
    )
    SELECT unnest(terms) AS term FROM stride
) AS found
 WHERE starts_with(term, :letter) AND length(term) <= :longest
"""  # noqa: S608
_ALIKE = f"""
WITH begun AS MATERIALIZED (
    SELECT lexeme, entries FROM mnestic.lexeme
     WHERE {_MINE} AND {{between}} entries > 0 AND starts_with(lexeme, :word)
     ORDER BY length(lexeme), lexeme COLLATE "C" LIMIT {_MOST_BEGUN}
)
SELECT array_agg(lexeme) AS lexemes, array_agg(entries) AS entries FROM (
    SELECT lexeme, entries FROM begun
     UNION ALL
    SELECT lexeme, entries FROM mnestic.lexeme
     WHERE {_MINE} AND {{between}} entries > 0 AND NOT EXISTS (SELECT FROM begun) AND starts_with(lexeme, :letter)
       AND length(lexeme) BETWEEN greatest({_SHORTEST_MISSPELT}, length(:word) - :slips) AND length(:word) + :slips
) AS found
"""  # noqa: S608
# Words that begin with one of these letters stand between it and the next, in nearly all collations.
_BETWEEN = dict(pairwise("abcdefghijklmnopqrstuvwxyz"))
# Those of another stand behind it, and before the next only where characters are in the order of their numbers, as
# capitals before small letters tell.
_BELOW = "('Z' > 'a' OR {0} < :next)"
_ALIKE_BETWEEN = text(_ALIKE.format(between="lexeme >= :first AND lexeme < :next AND"))
_ALIKE_FROM = text(_ALIKE.format(between=f"lexeme >= :first AND {_BELOW.format('lexeme')} AND"))
_NAMES_BETWEEN = text(_NAMED.format(below="AND term < :next"))
_NAMES_FROM = text(_NAMED.format(below=f"AND {_BELOW.format('term')}"))
# All of them, with all entries and how many words each has, for a process to keep, in pieces of JSON: a driver reads many
# small values in one go. The entries come first.
ALL_WORDS = text(f"""
SELECT 'entries' AS kind, CAST(json_agg(json_build_array(number, lexemes)) AS text) AS told
  FROM (SELECT number, lexemes, row_number() OVER () / {_PIECE} AS piece FROM mnestic.entry WHERE {_MINE}) AS entries
 GROUP BY piece
 UNION ALL
SELECT 'names', CAST(json_agg(json_build_array(kind, term, newest)) AS text)
  FROM (SELECT *, row_number() OVER () / {_NAMES_PIECE} AS piece
          FROM (SELECT kind, term, (array_agg(entry_number ORDER BY entry_number DESC))[1:{MOST_NAMED}] AS newest
                  FROM mnestic.entry_term WHERE {_MINE} AND kind IN ('subject', 'alias', 'tag')
                 GROUP BY kind, term) AS terms
       ) AS named GROUP BY piece
 UNION ALL
SELECT 'words', CAST(json_agg(json_build_array(lexeme, numbers, frequencies)) AS text)
  FROM (SELECT *, sum(cardinality(numbers)) OVER (ORDER BY lexeme) / {_PIECE} AS piece
          FROM (SELECT lexeme, array_agg(entry_number) AS numbers, array_agg(frequency) AS frequencies
                  FROM mnestic.posting WHERE {_MINE} GROUP BY lexeme) AS words
       ) AS posted GROUP BY piece
 ORDER BY kind
""")  # noqa: S608 - constants of this module


class KnownWords:
    """The words and names of an agent's memory."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def near_names(self, words: Collection[str], *, kept: KeptWords | None) -> dict[str, str]:
        """See `mnestic.memory.ports.SearchStore`; what is kept spares asking for all names."""
        asked = {word: name_key(word) for word in words if len(word) >= _SHORTEST_MISSPELT}
        some = dict([*asked.items()][:_MOST_SLIPS])
        letters = sorted({key[0] for key in some.values()})
        names: dict[str, Mapping[str, int]]
        if kept is not None:
            names = {letter: kept.names(letter) for letter in letters}
        else:
            longest = max((len(key) + most_slips(key) for key in some.values()), default=0)
            found = await self._unit.rows_of(*(self._named(each, longest) for each in letters))
            names = {
                letter: dict.fromkeys(row.terms or (), 1)
                for letter, (row,) in zip(letters, found, strict=True)
            }
        near = {word: _nearest_slip(key, names[key[0]]) for word, key in some.items()}
        return {word: name for word, name in near.items() if name is not None}

    async def look_up(
        self,
        words: Sequence[str],
        known: Known,
        *,
        slips: Collection[str],
        quiet: Collection[str],
        kept: KeptWords | None,
    ) -> Vocabulary:
        """See `mnestic.memory.ports.SearchStore`; what is kept spares asking for all words."""
        if not known.entries:
            return Vocabulary()
        asked: list[AskedLexeme] = []
        misspelt: dict[str, str] = {}
        telling = list(_telling(words, known, quiet=quiet))
        unknown = {
            word: tuple(found)
            for word, found in telling
            if word in slips and not any(found.values())
        }
        some = [each for found in [*unknown.values()][:_MOST_SLIPS] for each in found]
        slipped = await self._alike(some, kept)
        functions = {
            word
            for word, found in unknown.items()
            if LANGUAGE in known.languages
            and (word.islower() or word == words[0])
            and _is_function_word(word)
            and not any(one.startswith(each) for each in found for one in slipped.get(each, ()))
        }
        telling = [(word, found) for word, found in telling if word not in functions]
        for word, entries_of in telling:
            lexemes, entries, share = tuple(entries_of), sum(entries_of.values()), 1.0
            if any(set(lexemes) & set(other.lexemes) for other in asked):
                continue
            if not entries and word in slips:
                alike = next((slipped[each] for each in lexemes if slipped.get(each)), {})
                if any(set(alike) & set(other.lexemes) for other in asked):
                    continue
                if alike:
                    share, entries, lexemes = _GUESSED, max(alike.values()), tuple(alike)
                    misspelt[word] = ", ".join(alike)
            is_whole = len(known.words[word]) == 1 and (entries or word not in slips)
            asked.append(
                AskedLexeme(
                    lexemes=lexemes,
                    weight=share * _rarity(min(entries, known.entries), of=known.entries),
                    is_known=bool(entries),
                    word=word if is_whole and word not in misspelt else "",
                )
            )
        best = sorted(asked, key=lambda one: one.weight, reverse=True)[:_MOST_WORDS]
        average = max(1.0, known.lexemes / known.entries)
        return Vocabulary(
            asked=tuple(best),
            misspelt=misspelt,
            silent=frozenset(words).difference(word for word, _ in telling),
            average_length=average,
        )

    async def _alike(
        self, unknown: Collection[str], kept: KeptWords | None
    ) -> dict[str, dict[str, int]]:
        """The lexemes that each may be meant as: those it begins, else the one a slip or two away."""
        asked = {each for each in unknown if len(each) >= _SHORTEST_MISSPELT}
        if kept is not None:
            return {lexeme: _alike(lexeme, kept) for lexeme in asked}
        rows = await self._unit.rows_of(*(self._like(lexeme) for lexeme in asked))
        return {
            lexeme: _nearest(lexeme, dict(zip(row.lexemes or (), row.entries or (), strict=True)))
            for lexeme, (row,) in zip(asked, rows, strict=True)
        }

    def _named(self, letter: str, longest: int) -> Asked:
        """Names that begin with a letter."""
        statement = _NAMES_BETWEEN if letter in _BETWEEN else _NAMES_FROM
        bounds = {"first": _first(letter), "next": _after(letter)}
        return statement, {**self._unit.owner, **bounds, "letter": letter, "longest": longest}

    def _like(self, lexeme: str) -> Asked:
        """Those that begin with a lexeme; where none does, those that are about as long."""
        statement = _ALIKE_BETWEEN if lexeme[0] in _BETWEEN else _ALIKE_FROM
        bounds = {"first": _first(lexeme[0]), "next": _after(lexeme[0])}
        slips = most_slips(lexeme)
        asked = {"letter": lexeme[0], "word": lexeme, "slips": slips}
        return statement, {**self._unit.owner, **bounds, **asked}


def _first(letter: str) -> str:
    """What stands before all that begins with a letter, in any collation."""
    return "" if letter in _BEFORE else letter


def _after(letter: str) -> str:
    """The next letter, or the character with the next number; of the last one that itself."""
    number = ord(letter) + 1
    following = chr(0xE000 if number == _SURROGATES else min(number, sys.maxunicode))
    return _BETWEEN.get(letter, following)


def _alike(lexeme: str, kept: KeptWords) -> dict[str, int]:
    """As `KnownWords._alike`, of one."""
    if begun := kept.begun(lexeme, most=_MOST_BEGUN):
        return begun
    slips = most_slips(lexeme)
    return _nearest(lexeme, kept.about_as_long(lexeme, shortest=_SHORTEST_MISSPELT, slips=slips))


def _nearest(lexeme: str, entries: Mapping[str, int]) -> dict[str, int]:
    """Those that it begins, or else the one that is a slip or two away and in most entries."""
    if next(iter(entries), "").startswith(lexeme):  # then all do
        return dict(entries)
    best = _nearest_slip(lexeme, entries)
    return {} if best is None else {best: entries[best]}


def _nearest_slip(word: str, entries: Mapping[str, int]) -> str | None:
    """The one that is a slip or two away; of several the nearest, in most entries, and as hands slip."""
    near = process.extract(
        word, entries.keys(), scorer=OSA.distance, score_cutoff=most_slips(word), limit=None
    )
    order = [
        (slips, -entries[one], may_be_another(word, one, is_common=False), one)
        for one, slips, _ in near
    ]
    return min(order)[-1] if order else None


def _is_function_word(word: str) -> bool:
    """Whether a word is an English function word with a slip in it, such as *wich* or *teh*."""
    folded = word.casefold()
    if len(folded) < _SHORTEST_MISSPELT:
        return any(
            OSA.distance(folded, one) == 1 for one in STOP_WORDS if sorted(one) == sorted(folded)
        )
    near = process.extractOne(folded, _FUNCTION_WORDS, scorer=OSA.distance, score_cutoff=1)
    return near is not None and near[0][0] == folded[0]


def _telling(
    words: Sequence[str], known: Known, *, quiet: Collection[str]
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
            found.append((word, mine, ReadWord(read.keys(), is_known=any(mine.values()))))
    says = tells([one for *_, one in found], {LANGUAGE, *known.languages})
    for (word, mine, _), is_telling in zip(found, says, strict=True):
        if is_telling and mine:
            yield word, mine


def _rarity(entries: int, *, of: int) -> float:
    """How telling a lexeme is. Source: BM25; of one that nothing has, as if half an entry had it."""
    if not entries:
        return math.log(1 + of)
    return math.log(1 + (of - entries + 0.5) / (entries + 0.5))
