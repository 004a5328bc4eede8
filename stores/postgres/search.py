"""Search in Postgres: each source brings the entries that say most, by number.

It reads what the stores of entries and facts write, and writes nothing. Row-level security lets only
comparisons that cannot leak use an index, so words and names are looked up by equality.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from mnestic.memory.candidates import Candidates, Hit, Tie
from mnestic.memory.dates import Period
from mnestic.memory.entries import Entry
from mnestic.memory.retrieval import Retrieval
from mnestic.memory.retrieval_ports import Prepare
from mnestic.memory.search import (
    Fresh,
    Hits,
    Judgement,
    Known,
    Search,
    Tied,
    Vocabulary,
)
from mnestic.memory.weighing import SATURATION
from mnestic.stores.postgres.candidates import COLUMNS, candidates_of, line_of
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.fresh_entries import COUNT, list_fresh
from mnestic.stores.postgres.holding import is_over
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.known_facts import KnownFacts
from mnestic.stores.postgres.known_sessions import KnownSessions, spoke_not
from mnestic.stores.postgres.known_words import KnownWords
from mnestic.stores.postgres.nearest import Nearest
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.search_filters import Filter, statement_of
from mnestic.stores.postgres.told_entries import ToldEntries
from mnestic.stores.postgres.unit import NOTHING, Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_AMONG = """
t.tenant_id = :tenant_id AND t.agent_id = :agent_id AND t.number = ANY(CAST(:numbers AS bigint[]))"""
_NAMED, _TIMED, _LEARNED = 30, 100, 50  # entries that a name, a period and facts bring
_LENGTH = 0.75  # how much an entry's length counts, BM25's b

_BY_WORDS = """
WITH {allowed} asked AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS real[]), CAST(:bits AS bigint[]))
        AS _ (lexeme, weight, bit)
)
SELECT p.entry_number AS number,
       sum(a.weight * (p.frequency * {more} / (p.frequency + {saturation}
           * ({short} + {length} * p.length / CAST(:average AS real)))))::real AS score,
       bit_or(a.bit) AS lexemes
  FROM asked AS a
  JOIN mnestic.posting AS p
    ON p.tenant_id = :tenant_id AND p.agent_id = :agent_id AND p.lexeme = a.lexeme
 {where}
 GROUP BY p.entry_number ORDER BY score DESC, number DESC LIMIT :limit
"""
_BY_NAME = f"""
WITH {{allowed}} k AS (
    SELECT * FROM unnest(CAST(:kinds AS text[]), CAST(:terms AS text[])) AS _ (kind, term)
)
SELECT found.number FROM k
 CROSS JOIN LATERAL (
    SELECT entry_number AS number FROM mnestic.entry_term
     WHERE {_MINE} AND kind = k.kind AND term = k.term {{within}}
     ORDER BY entry_number DESC LIMIT {_NAMED}
 ) AS found
"""  # noqa: S608 - constants of this module
_BY_TIME = f"""
SELECT e.number FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.at >= :since_then AND e.at < :until_then
       {{conditions}}
 ORDER BY e.at DESC, e.id DESC LIMIT {_TIMED}
"""  # noqa: S608
_THESE = """
 FROM mnestic.entry AS e
WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id
  AND (e.number = ANY(CAST(:numbers AS bigint[])) OR e.id = ANY(CAST(:ids AS text[])))
"""
_LINES = text(f"SELECT {COLUMNS} {_THESE}")
_OVER = f"SELECT number FROM mnestic.entry AS t WHERE {_AMONG} AND {{is_over}}"  # noqa: S608
# In a conversation two turns before and after, the nearest first; elsewhere an entry's place says nothing. What is
# related is looked up one by one (OFFSET 0): where most agents are small, a join would read all entries of a large one.
_TIES = f"""
SELECT t.number AS lender,
       ARRAY(SELECT CASE WHEN e.entry_type = 'interaction' THEN e.number END FROM mnestic.entry AS e
              WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.session_id = t.session_id
                AND t.entry_type = 'interaction' AND (e.at, e.id) < (t.at, t.id)
              ORDER BY e.at DESC, e.id DESC LIMIT 2) AS before,
       ARRAY(SELECT CASE WHEN e.entry_type = 'interaction' THEN e.number END FROM mnestic.entry AS e
              WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.session_id = t.session_id
                AND t.entry_type = 'interaction' AND (e.at, e.id) > (t.at, t.id)
              ORDER BY e.at, e.id LIMIT 2) AS after,
       ARRAY(SELECT e.number FROM jsonb_array_elements_text(t.related) AS r (id)
              CROSS JOIN LATERAL (SELECT number FROM mnestic.entry
                                   WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND id = r.id OFFSET 0) AS e)
       || ARRAY(SELECT entry_number FROM mnestic.entry_term
                 WHERE tenant_id = :tenant_id AND agent_id = :agent_id AND kind = 'related' AND term = t.id)
       AS related,
       {{is_over}} AS is_over
  FROM mnestic.entry AS t
 WHERE {_AMONG}
"""  # noqa: S608
_SEARCH = ("entry.search", "*")  # of the audit log; the words of a question are nobody's business
_TRUE_FOR = timedelta(minutes=10)  # of an answer; how recent something is counts a little
_SPARE = 4  # entries that are read beside those that are told, as some may not answer
_SIDE: tuple[Tie, ...] = ("beside", "near")


class PostgresSearchStore:
    """Implements `mnestic.memory.ports.SearchStore`."""

    def __init__(self, unit: Unit, kept: Kept, ahead: ReadingAhead) -> None:
        self._unit, self._kept, self._ahead = unit, kept, ahead
        self._owner = (unit.tenant_id, unit.agent_id)
        self._words = KnownWords(unit)
        self._is_noted = False

    async def find_answer(self, question: str) -> Retrieval | None:
        """See the port."""
        if self._unit.may_write or not self._kept.has_answer(self._owner, question):
            return None
        ((moment,),) = await self._unit.rows_of((COUNT, self._unit.owner))
        now = moment.now.timestamp()
        told = self._kept.answer(self._owner, question, knowledge=moment.knowledge, now=now)
        if told is not None:
            self._unit.read(*_SEARCH)
        return told

    def keep_answer(self, question: str, told: Retrieval, known: Known) -> None:
        """See the port."""
        if self._unit.may_write:
            return
        until = known.now + _TRUE_FOR
        if known.ends_at is not None:
            until = min(until, known.ends_at)
        ends = until.timestamp()
        self._kept.keep_answer(self._owner, question, told, knowledge=known.knowledge, until=ends)

    async def recognise(
        self,
        keys: Collection[str],
        words: Collection[str],
        *,
        tags: Collection[str] = (),
        model: str,
        prepare: Prepare | None = None,
    ) -> Known:
        """See the port."""
        if not self._is_noted:  # a question is recognised again where one of its names was misspelt
            self._unit.read(*_SEARCH)
            self._is_noted = True
        known = await self._words.recognise(keys, words, tags=tags, model=model)
        if not self._unit.may_write:
            reading = self._kept.read_at(self._owner, known.knowledge)
            lacks_some = self._kept.ask(self._owner)
            if lacks_some or reading.unseen or reading.may_read_ahead(known.entries):
                self._ahead.begin(self._owner, prepare)
        return known

    async def near_names(self, words: Collection[str], known: Known) -> Mapping[str, str]:
        """See the port."""
        return await self._words.near_names(words, kept=self._kept_words(known))

    async def list_related(
        self, names: Collection[str], predicates: Collection[str]
    ) -> frozenset[str]:
        """See the port."""
        return await KnownFacts(self._unit).related(names, predicates)

    async def look_up(
        self,
        words: Sequence[str],
        known: Known,
        *,
        slips: Collection[str] = (),
        quiet: Collection[str] = (),
    ) -> Vocabulary:
        """See the port."""
        kept = self._kept_words(known)
        return await self._words.look_up(words, known, slips=slips, quiet=quiet, kept=kept)

    async def list_fresh(self, model: str, known: Known, *, limit: int) -> Fresh:
        """See the port."""
        return await list_fresh(self._unit, model, known, limit=limit)

    async def find(self, search: Search) -> Hits:
        """See the port."""
        facts, reading = KnownFacts(self._unit), self._reading(search)
        is_whole = reading is not None and reading.is_whole  # then hardly anything else is asked
        words, called, named, timed, said = await self._unit.rows_of(
            self._by_words(search, search.vocabulary, limit=search.pool),
            self._by_words(search, search.called, limit=_NAMED),
            self._by_names(search),
            self._by_time(search),
            facts.said(search, limit=_LEARNED),
            is_last=is_whole,
        )
        return Hits(
            words={number: Hit(score, lexemes) for number, score, lexemes in words},
            others=frozenset(row.number for rows in (called, named, timed) for row in rows),
            learned=facts.learned(said, search.predicates),
            successions=facts.successions(said),
            may_lack_tagged=len(named) >= _NAMED,
        )

    def recall_near(self, search: Search) -> dict[int, float] | None:
        """See the port."""
        return Nearest(self._unit, self._reading(search)).recall(search)

    async def find_near(self, search: Search) -> dict[int, float]:
        """See the port."""
        return await Nearest(self._unit, self._reading(search)).find(search)

    async def find_period(self, periods: Sequence[Period]) -> Period | None:
        """See the port."""
        return await KnownSessions(self._unit).period(periods)

    def recall(self, numbers: AbstractSet[int], search: Search) -> Candidates:
        """See the port."""
        reading = self._reading(search)
        if not numbers or reading is None or Filter.of(search).is_narrow:
            return Candidates()
        return candidates_of(reading.lines(numbers).values(), search)

    async def describe(
        self, numbers: AbstractSet[int], ids: Collection[str], search: Search
    ) -> Candidates:
        """See the port."""
        if not numbers and not ids:
            return Candidates()
        narrow = Filter.of(search)
        these = {**self._unit.owner, "numbers": array_of(numbers), "ids": sorted(ids)}
        let_through = f"SELECT e.number {_THESE} {narrow.conditions}"
        rows, allowed = await self._unit.rows_of(
            (_LINES, these),
            (statement_of(let_through), these | narrow.values) if narrow.is_narrow else NOTHING,
        )
        lines = [line_of(row) for row in rows]
        if (reading := self._reading(search)) is not None:
            reading.keep(lines)
        held = {row.number for row in allowed} if narrow.is_narrow else None
        return candidates_of(lines, search, held=held)

    async def list_ties(self, numbers: Sequence[int], search: Search) -> Tied:
        """See the port."""
        if not numbers:
            return Tied()
        reading = self._reading(search)
        known = reading.ties(numbers) if reading is not None else {}
        unknown = [number for number in numbers if number not in known]
        over, asking = self._over(known, search)
        rows, gone = await self._unit.rows_of(
            self._of_what_holds(_TIES, unknown, search) if unknown else NOTHING,
            asking,
            is_noted=True,
        )
        over.update(row.number for row in gone)
        over |= {row.lender for row in rows if row.is_over and _asks_what_holds(search)}
        return Tied({**known, **{row.lender: _ties(row) for row in rows}}, frozenset(over))

    async def judge(
        self,
        numbers: Sequence[int],
        search: Search,
        *,
        sound: AbstractSet[int],
        apart: Sequence[int],
        told: int,
    ) -> Judgement:
        """See the port."""
        if not numbers:
            return Judgement(frozenset(), {})
        reading = self._reading(search)
        is_apart = reading.apart(apart, search.names) if reading is not None else {}
        likely = [number for number in numbers if not is_apart.get(number)]
        over, asking = self._over([number for number in likely if number not in sound], search)
        likely = [number for number in likely if number not in over]
        best = ToldEntries(self._unit, reading, likely[: told + _SPARE])
        other, gone, unheard, rows = await self._unit.rows_of(
            KnownFacts(self._unit).others(numbers, search.believed, search.respects),
            asking,
            KnownSessions(self._unit).apart([one for one in apart if one not in is_apart], search),
            best.asking,
            is_last=True,
        )
        wrong = over.union(row.number for each in (other, gone) for row in each)
        wrong |= spoke_not(unheard, search.names)
        wrong.update(number for number, is_wrong in is_apart.items() if is_wrong)
        return Judgement(frozenset(wrong), best.entries(rows, but=wrong))

    async def read(self, numbers: Sequence[int], search: Search) -> dict[int, Entry]:
        """See the port."""
        told = ToldEntries(self._unit, self._reading(search), numbers)
        (rows,) = await self._unit.rows_of(told.asking)
        return told.entries(rows)

    def _reading(self, at: Search | Known) -> Reading | None:
        """What the process keeps of the agent; nothing where a transaction may see what it wrote itself."""
        if self._unit.may_write:
            return None
        return self._kept.reading(self._owner, at.knowledge)

    def _kept_words(self, known: Known) -> KeptWords | None:
        reading = self._reading(known)
        return None if reading is None else reading.words

    def _over(self, numbers: Collection[int], search: Search) -> tuple[set[int], Asked]:
        """Those of which nothing that was claimed holds, as far as the process knows it, and what asks for the others."""
        if not _asks_what_holds(search):
            return set(), NOTHING
        reading, known = self._reading(search), dict[int, bool]()
        if reading is not None and search.held is None:
            known = reading.over(numbers, search.respects, now=search.now.timestamp())
        unknown = [number for number in numbers if number not in known]
        asking = self._of_what_holds(_OVER, unknown, search) if unknown else NOTHING
        return {number for number, is_over in known.items() if is_over}, asking

    def _of_what_holds(self, statement: str, numbers: Collection[int], search: Search) -> Asked:
        over, values = is_over("t", respects=search.respects, held=search.held)
        values |= {**self._unit.owner, "numbers": array_of(numbers)}
        return statement_of(statement.format(is_over=over)), values

    def _by_words(self, search: Search, vocabulary: Vocabulary, *, limit: int) -> Asked:
        """The entries with the highest BM25."""
        asked = [
            (lexeme, one.weight, 1 << place)
            for place, one in enumerate(vocabulary.asked)
            if one.is_known
            for lexeme in one.lexemes
        ]
        if not asked or (search.query.mode == "semantic" and vocabulary is search.vocabulary):
            return NOTHING
        lexemes, weights, bits = zip(*asked, strict=True)
        narrow = Filter.of(search)
        statement = statement_of(
            _BY_WORDS.format(
                allowed=narrow.allowed,
                where=narrow.within("WHERE p.entry_number"),
                more=_double(SATURATION + 1),
                saturation=_double(SATURATION),
                short=_double(1 - _LENGTH),
                length=_double(_LENGTH),
            )
        )
        values: dict[str, Any] = {"limit": limit, "average": vocabulary.average_length}
        values |= {"lexemes": [*lexemes], "weights": array_of(weights), "bits": array_of(bits)}
        return statement, {**self._unit.owner, **narrow.values, **values}

    def _by_names(self, search: Search) -> Asked:
        """The newest entries about each of the names, if nothing else is asked; those with the tags or aliases."""
        asks_more = any(one.is_known for one in search.vocabulary.asked)
        names = () if asks_more else sorted(search.names)
        asked = [(kind, name) for kind in ("subject", "alias") for name in names]
        asked += [(kind, tag) for kind in ("tag", "alias") for tag in sorted(search.tags)]
        if not asked:
            return NOTHING
        kinds, terms = (list(part) for part in zip(*asked, strict=True))
        narrow = Filter.of(search)
        statement = statement_of(
            _BY_NAME.format(allowed=narrow.allowed, within=narrow.within("AND entry_number"))
        )
        values = {"kinds": kinds, "terms": terms}
        return statement, {**self._unit.owner, **narrow.values, **values}

    def _by_time(self, search: Search) -> Asked:
        """The last entries of the period."""
        period = search.period
        if period is None:
            return NOTHING
        narrow = Filter.of(search)
        statement = statement_of(_BY_TIME.format(conditions=narrow.conditions))
        values = {"since_then": period.start, "until_then": period.end}
        return statement, {**self._unit.owner, **narrow.values, **values}


def _double(number: float) -> str:
    """A number as Postgres reckons fast: without a type it is a decimal, with which a search by words takes up to twice as long."""
    return f"CAST({number} AS double precision)"


def _asks_what_holds(search: Search) -> bool:
    """Whether what does not hold any more is left out."""
    return search.query.statuses == ("active",)


def _ties(row: Any) -> list[tuple[int, Tie]]:
    """What is tied to an entry; a place beside it may be of something that was not said."""
    sides = [*zip(row.before, _SIDE, strict=False), *zip(row.after, _SIDE, strict=False)]
    told: list[tuple[int, Tie]] = [(number, tie) for number, tie in sides if number is not None]
    return told + [(number, "related") for number in row.related]
