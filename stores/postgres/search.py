"""Search in Postgres: each source brings the entries that say most, by number.

It reads what the stores of entries and facts write, and writes nothing. Row-level security lets only
comparisons that cannot leak use an index, so words and names are looked up by equality.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from mnestic.memory.candidates import Candidates, Tie
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
from mnestic.stores.postgres.candidates import COLUMNS, candidates_of, line_of
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.fresh_entries import COUNT, list_fresh
from mnestic.stores.postgres.holding import is_over
from mnestic.stores.postgres.kept import Kept
from mnestic.stores.postgres.kept_known import Told
from mnestic.stores.postgres.kept_words import KeptWords
from mnestic.stores.postgres.known_facts import KnownFacts
from mnestic.stores.postgres.known_sessions import KnownSessions, spoke_not
from mnestic.stores.postgres.known_words import MOST_NAMED, KnownWords
from mnestic.stores.postgres.nearest import Nearest, as_kept
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.reading_ahead import ReadingAhead
from mnestic.stores.postgres.recognising import known_of, tell
from mnestic.stores.postgres.search_filters import Filter, statement_of
from mnestic.stores.postgres.sources import Sources
from mnestic.stores.postgres.told_entries import ToldEntries
from mnestic.stores.postgres.unit import NOTHING, Unit

_AMONG = """
t.tenant_id = :tenant_id AND t.agent_id = :agent_id AND t.number = ANY(CAST(:numbers AS bigint[]))"""
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
        if self._unit.may_write or not self._kept.answers.has(self._owner, question):
            return None
        ((moment,),) = await self._unit.rows_of((COUNT, self._unit.owner))
        now = moment.now.timestamp()
        told = self._kept.answers.get(self._owner, question, knowledge=moment.knowledge, now=now)
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
        told = await self._tell({*keys, *tags}, {*words}, model)
        known = known_of(told, keys, tags)
        if not self._unit.may_write:
            reading = self._kept.read_at(self._owner, known.knowledge)
            reading.keep_told(told)
            lacks_some = self._kept.ask(self._owner)
            if lacks_some or reading.unseen or reading.may_read_ahead(known.entries):
                self._ahead.begin(self._owner, prepare)
        return known

    def recall_names(self, keys: AbstractSet[str]) -> frozenset[str] | None:
        """See the port."""
        reading = self._kept.at_hand(self._owner)
        if self._unit.may_write or reading is None or not reading.knows_all:
            return None
        return reading.names(keys)

    def foresee_near(self, model: str, vector: bytes) -> None:
        """See the port."""
        reading = self._kept.at_hand(self._owner)
        held = None if reading is None else reading.vectors(model)
        if held is not None and 4 * held.dimensions == len(vector):
            held.foresee(as_kept(vector))

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
        reading = self._reading(search)
        sources, facts = Sources(self._unit, reading, search), KnownFacts(self._unit)
        words, called, named = sources.words(), sources.called(), sources.named()
        timed, said = sources.timed(), sources.said()
        # Where these are known, hardly anything else is asked.
        is_last = reading is not None and reading.knows_claims
        of_words, of_call, of_names, of_time, of_facts = await self._unit.rows_of(
            words.asking,
            called.asking,
            named.asking,
            timed.asking,
            said.asking,
            is_last=is_last,
        )
        by_name, told = named.told(of_names), said.told(of_facts)
        learned = facts.learned(told, search.predicates)
        if (ids := sources.holding(learned)) is not None:
            learned = {one: learned[one] for one in ids}
        others = frozenset(called.told(of_call)).union(by_name, timed.told(of_time))
        return Hits(
            words=words.told(of_words),
            others=others.union((ids or {}).values()),
            learned=learned,
            successions=facts.successions(told),
            may_lack_tagged=len(by_name) >= MOST_NAMED,
        )

    def recall_near(self, search: Search) -> dict[int, float] | None:
        """See the port."""
        return Nearest(self._unit, self._reading(search)).recall(search)

    async def find_near(self, search: Search) -> dict[int, float]:
        """See the port."""
        return await Nearest(self._unit, self._reading(search)).find(search)

    async def find_period(self, periods: Sequence[Period], known: Known) -> Period | None:
        """See the port."""
        reading = self._reading(known)
        places = None if reading is None else reading.places
        if places is not None and places.is_known:
            return next(filter(places.has_time, periods), None)
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
        facts, known = KnownFacts(self._unit), None
        if reading is not None:
            known = reading.of_others(numbers, search.believed, search.respects)
        asks_others = known is None
        other, gone, unheard, rows = await self._unit.rows_of(
            facts.others(numbers, search.believed, search.respects) if asks_others else NOTHING,
            asking,
            KnownSessions(self._unit).apart([one for one in apart if one not in is_apart], search),
            best.asking,
            is_last=True,
        )
        wrong = over.union(row.number for each in (other, gone) for row in each)
        wrong |= known or set()
        wrong |= spoke_not(unheard, search.names)
        wrong.update(number for number, is_wrong in is_apart.items() if is_wrong)
        return Judgement(frozenset(wrong), best.entries(rows, but=wrong))

    async def read(self, numbers: Sequence[int], search: Search) -> dict[int, Entry]:
        """See the port."""
        told = ToldEntries(self._unit, self._reading(search), numbers)
        (rows,) = await self._unit.rows_of(told.asking)
        return told.entries(rows)

    async def _tell(self, names: set[str], words: set[str], model: str) -> Told:
        """What Postgres tells of names and words; of those of which the process knows that, if nothing has changed."""
        if self._unit.may_write:
            return await tell(self._unit, names, words, model=model)
        kept = self._kept.told(self._owner, names, words)
        # Where all is kept hardly anything else is asked of Postgres.
        is_last = self._kept.knows_all(self._owner)
        told = await tell(
            self._unit,
            names - kept.names.keys(),
            words - kept.words.keys(),
            model=model,
            is_last=is_last,
        )
        if told.knowledge == kept.knowledge or not (kept.names or kept.words):
            return told.joined(kept)
        return await tell(self._unit, names, words, model=model)

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
        if reading is not None:
            now = search.now.timestamp()
            known = reading.over(numbers, search.respects, held=search.held, now=now)
        unknown = [number for number in numbers if number not in known]
        asking = self._of_what_holds(_OVER, unknown, search) if unknown else NOTHING
        return {number for number, is_over in known.items() if is_over}, asking

    def _of_what_holds(self, statement: str, numbers: Collection[int], search: Search) -> Asked:
        over, values = is_over("t", respects=search.respects, held=search.held)
        values |= {**self._unit.owner, "numbers": array_of(numbers)}
        return statement_of(statement.format(is_over=over)), values


def _asks_what_holds(search: Search) -> bool:
    """Whether what does not hold any more is left out."""
    return search.query.statuses == ("active",)


def _ties(row: Any) -> list[tuple[int, Tie]]:
    """What is tied to an entry; a place beside it may be of something that was not said."""
    sides = [*zip(row.before, _SIDE, strict=False), *zip(row.after, _SIDE, strict=False)]
    told: list[tuple[int, Tie]] = [(number, tie) for number, tie in sides if number is not None]
    return told + [(number, "related") for number in row.related]
