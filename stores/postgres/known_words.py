"""The words and names of an agent's memory: which of a question are known, and as what.

They stand apart from the search, since words are found by what they look like.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

from rapidfuzz.distance import OSA
from sqlalchemy import text

from mnestic.memory.predicates import NAMING
from mnestic.memory.search import AskedLexeme, KnownName, Vocabulary
from mnestic.stores.postgres.unit import Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_LOOKED_AT = 20  # entries about somebody, for whether one of them is theirs
_SHORTEST_MISSPELT = 4  # characters; nothing shorter is taken for misspelt
_LONG = 8  # characters; from here on two errors are
_MOST_WORDS = 60  # of a question, the most telling; each has a bit
_MOST_BEGUN = 3  # lexemes that the beginning of a word stands for
_GUESSED = 0.8  # of a word's weight, where it was misspelt

# Who has spoken is found among the last entries about them, since who says something is whom it is about
# unless it says otherwise.
_NAMES = text(f"""
SELECT asked.term AS asked, asked.term AS key, EXISTS (
       SELECT FROM (SELECT entry_number FROM mnestic.entry_term
                     WHERE {_MINE} AND kind = 'subject' AND term = asked.term
                     ORDER BY entry_number DESC LIMIT {_LOOKED_AT}) AS about
         JOIN mnestic.entry AS e ON e.tenant_id = :tenant_id AND e.agent_id = :agent_id
          AND e.number = about.entry_number
        WHERE e.entry_type = 'interaction' AND lower(e.speaker) = asked.term) AS speaks
  FROM unnest(CAST(:keys AS text[])) AS asked (term)
 WHERE EXISTS (SELECT FROM mnestic.entry_term WHERE {_MINE} AND kind = 'subject' AND term = asked.term)
    OR EXISTS (SELECT FROM mnestic.entry_term WHERE {_MINE} AND kind = 'alias' AND term = asked.term)
    OR EXISTS (SELECT FROM mnestic.fact WHERE {_MINE} AND subject_key = asked.term)
UNION
SELECT object_key, subject_key, false FROM mnestic.fact
 WHERE {_MINE} AND object_key = ANY(:keys) AND status = 'active' AND predicate IN {NAMING}
""")  # noqa: S608 - constants of this module
_LEXEMES = text("""
SELECT w.place, x.lexeme, COALESCE(l.entries, 0) AS entries
  FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS w (word, place)
 CROSS JOIN unnest(tsvector_to_array(to_tsvector('english', w.word))) AS x (lexeme)
  LEFT JOIN mnestic.lexeme AS l
    ON l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.lexeme = x.lexeme
 ORDER BY w.place, x.lexeme
""")
_CORPUS = text(f"SELECT entries, lexemes FROM mnestic.corpus WHERE {_MINE}")  # noqa: S608
_ALIKE = text(f"""
SELECT lexeme, entries FROM mnestic.lexeme
 WHERE {_MINE} AND lexeme >= :first AND (CAST(:next AS text) IS NULL OR lexeme < :next) AND entries > 0
""")  # noqa: S608


class KnownWords:
    """The words and names of an agent's memory."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def names(self, keys: Collection[str]) -> dict[str, KnownName]:
        """See `mnestic.memory.ports.SearchStore`."""
        if not keys:
            return {}
        also: dict[str, set[str]] = defaultdict(set)
        speaks = set()
        for row in await self._unit.rows(_NAMES, {**self._unit.owner, "keys": sorted(keys)}):
            also[row.asked] |= {row.asked, row.key}
            if row.speaks:
                speaks.add(row.asked)
        return {
            asked: KnownName(keys=frozenset(found), speaks=asked in speaks)
            for asked, found in also.items()
        }

    async def look_up(self, words: Sequence[str], *, slips: Collection[str]) -> Vocabulary:
        """See `mnestic.memory.ports.SearchStore`."""
        corpus = await self._unit.row(_CORPUS, self._unit.owner)
        if corpus is None or not corpus.entries:
            return Vocabulary()
        rows = await self._unit.rows(_LEXEMES, {**self._unit.owner, "words": list(words)})
        known: list[AskedLexeme] = []
        misspelt: dict[str, str] = {}
        for row in rows:
            if any(row.lexeme in one.lexemes for one in known):
                continue
            entries, share = row.entries, 1.0
            lexemes: tuple[str, ...] = (row.lexeme,)
            if not entries and words[row.place - 1] in slips:
                alike = await self._alike(row.lexeme)
                if alike:
                    share, entries, lexemes = _GUESSED, max(alike.values()), tuple(alike)
                    misspelt[words[row.place - 1]] = ", ".join(alike)
            weight = share * _rarity(entries, of=corpus.entries)
            known.append(AskedLexeme(lexemes=lexemes, weight=weight, is_known=bool(entries)))
        telling = sorted(known, key=lambda one: one.weight, reverse=True)[:_MOST_WORDS]
        average = max(1.0, corpus.lexemes / corpus.entries)
        return Vocabulary(asked=tuple(telling), misspelt=misspelt, average_length=average)

    async def _alike(self, lexeme: str) -> dict[str, int]:
        """The lexemes that a word may be meant as: those it begins, else those a slip or two away."""
        if len(lexeme) < _SHORTEST_MISSPELT:
            return {}
        first = lexeme[0]
        following = chr(ord(first) + 1) if first != "z" else None
        rows = await self._unit.rows(
            _ALIKE, {**self._unit.owner, "first": first, "next": following}
        )
        entries = {row.lexeme: row.entries for row in rows}
        begun = sorted((one for one in entries if one.startswith(lexeme)), key=len)
        if begun:
            return {one: entries[one] for one in begun[:_MOST_BEGUN]}
        slips = 2 if len(lexeme) >= _LONG else 1
        near = [
            (slip, -entries[one], one)
            for one in entries
            if len(one) >= _SHORTEST_MISSPELT
            and (slip := OSA.distance(lexeme, one, score_cutoff=slips)) <= slips
        ]
        return {one: entries[one] for _, _, one in sorted(near)[:1]}


def _rarity(entries: int, *, of: int) -> float:
    """How telling a lexeme is. Source: BM25; of one that nothing has, as if half an entry had it."""
    if not entries:
        return math.log(1 + of)
    return math.log(1 + (of - entries + 0.5) / (entries + 0.5))
