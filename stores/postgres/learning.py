"""How far it is with learning from each resource, in Postgres."""

from collections.abc import Sequence
from typing import Any, get_args

from sqlalchemy import Row, and_, bindparam, func, select, text, update

from mnestic.memory.entries import EntryType
from mnestic.memory.extraction import TurnKind
from mnestic.memory.learning import LearningCount, LearningState, Lesson
from mnestic.memory.resources import Resource
from mnestic.stores.postgres.knowledge_tables import LearningRow
from mnestic.stores.postgres.pages import check_limit, decode_cursor, encode_cursor
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.tables import ResourceRow, table
from mnestic.stores.postgres.unit import Unit, among

LEARNING, RESOURCE = table(LearningRow), table(ResourceRow)
_SAME = and_(
    *(LEARNING.c[name] == RESOURCE.c[name] for name in ("tenant_id", "agent_id", "session_id")),
    LEARNING.c.source_id == RESOURCE.c.source_id,
)
_STEP = (
    LEARNING.c.number,
    LEARNING.c.state,
    LEARNING.c.kind,
    LEARNING.c.entry_type,
    LEARNING.c.job_id,
    LEARNING.c.workflow_run,
    LEARNING.c.extractor,
    LEARNING.c.extracted,
    LEARNING.c.reason,
)
_STATES: tuple[LearningState, ...] = get_args(LearningState)
_BEGIN = text("""
INSERT INTO mnestic.learning
       (tenant_id, agent_id, session_id, source_id, state, entry_type, kind, job_id, workflow_run,
        updated_at)
SELECT :tenant_id, :agent_id, session_id, source_id, 'received', :entry_type, :kind, :job_id,
       :workflow_run, now()
  FROM unnest(CAST(:sessions AS text[]), CAST(:sources AS text[])) AS given (session_id, source_id)
ON CONFLICT DO NOTHING RETURNING session_id, source_id
""")
_EXTRACTED = (
    update(LEARNING)
    .where(
        LEARNING.c.tenant_id == bindparam("of_tenant"),
        LEARNING.c.agent_id == bindparam("of_agent"),
        LEARNING.c.session_id == bindparam("of_session"),
        LEARNING.c.source_id == bindparam("of_source"),
        LEARNING.c.state == "received",
    )
    .values(state="extracted", extracted=bindparam("extracted"), updated_at=func.now())
)


class PostgresLearningStore:
    """Implements `mnestic.memory.ports.LearningStore`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    async def begin(
        self,
        resources: Sequence[Resource],
        *,
        entry_type: EntryType,
        kind: TurnKind,
        job_id: str | None = None,
        workflow_run: str | None = None,
    ) -> tuple[Lesson, ...]:
        """See the port."""
        if not resources:
            return ()
        begun = await self._unit.rows(
            _BEGIN,
            {
                **self._unit.owner,
                "sessions": [one.session_id for one in resources],
                "sources": [one.source_id for one in resources],
                "entry_type": entry_type,
                "kind": kind,
                "job_id": job_id,
                "workflow_run": workflow_run,
            },
        )
        if not begun:
            return ()
        self._unit.wrote("learning.begin", f"{len(begun)} messages")
        places = among([tuple(row) for row in begun], LEARNING.c.session_id, LEARNING.c.source_id)
        kept = select(*RESOURCE.c, *_STEP).join_from(LEARNING, RESOURCE, _SAME)
        kept = kept.where(self._unit.owned(LEARNING), places).order_by(LEARNING.c.number)
        return tuple(_lesson(row) for row in await self._unit.rows(kept))

    async def take(self, state: LearningState, *, limit: int) -> tuple[Lesson, ...]:
        """See the port."""
        found = select(*RESOURCE.c, *_STEP).join_from(LEARNING, RESOURCE, _SAME)
        found = found.where(self._unit.owned(LEARNING), LEARNING.c.state == state)
        found = found.order_by(LEARNING.c.number).limit(check_limit(limit))
        rows = await self._unit.rows(found.with_for_update(of=LEARNING, skip_locked=True))
        return tuple(_lesson(row) for row in rows)

    async def keep_extracted(self, lessons: Sequence[Lesson], *, extractor: str) -> None:
        """See the port."""
        if not lessons:
            return
        rows = [
            {
                "of_tenant": self._unit.tenant_id,
                "of_agent": self._unit.agent_id,
                "of_session": lesson.resource.session_id,
                "of_source": lesson.resource.source_id,
                "extracted": [found.model_dump(mode="json") for found in lesson.extracted],
            }
            for lesson in lessons
        ]
        await self._unit.run(_EXTRACTED.values(extractor=extractor), rows)

    async def learned(self, lessons: Sequence[Lesson]) -> None:
        """See the port."""
        await self._set(lessons, of=("extracted",), state="learned")
        self._unit.wrote("learning.learned", f"{len(lessons)} messages")

    async def park(self, lesson: Lesson, *, reason: str) -> None:
        """See the port."""
        await self._set([lesson], of=("received", "extracted"), state="parked", reason=reason)
        self._unit.wrote("learning.park", lesson.name, reason=reason)

    async def retry(self, lessons: Sequence[Lesson]) -> int:
        """See the port."""
        again = await self._set(lessons, of=("parked",), state="received", reason=None)
        self._unit.wrote("learning.retry", f"{again} messages")
        return again

    async def drop(self, lessons: Sequence[Lesson]) -> int:
        """See the port."""
        unlearned: tuple[LearningState, ...] = ("received", "extracted", "parked")
        dropped = await self._set(lessons, of=unlearned, state="dropped", reason=None)
        self._unit.wrote("learning.drop", f"{dropped} messages")
        return dropped

    async def find(self, session_id: str, source_id: str) -> Lesson | None:
        """See the port."""
        found = select(*RESOURCE.c, *_STEP).join_from(LEARNING, RESOURCE, _SAME)
        row = await self._unit.row(
            found.where(
                self._unit.owned(LEARNING),
                LEARNING.c.session_id == session_id,
                LEARNING.c.source_id == source_id,
            )
        )
        return None if row is None else _lesson(row)

    async def restart(self, lesson: Lesson) -> None:
        """See the port."""
        await self._set([lesson], of=_STATES, state="received", reason=None)
        self._unit.wrote("learning.restart", lesson.name)

    async def list_by_state(
        self, state: LearningState, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[Lesson, ...], str | None]:
        """See the port."""
        found = select(*RESOURCE.c, *_STEP).join_from(LEARNING, RESOURCE, _SAME)
        found = found.where(self._unit.owned(LEARNING), LEARNING.c.state == state)
        if cursor is not None:
            (after,) = decode_cursor(cursor, parts=1)
            found = found.where(LEARNING.c.number > int(after))
        found = found.order_by(LEARNING.c.number).limit(check_limit(limit) + 1)
        rows = await self._unit.rows(found)
        self._unit.read("learning.list", state)
        lessons = tuple(_lesson(row) for row in rows[:limit])
        more = len(rows) > limit
        return lessons, encode_cursor(str(rows[limit - 1].number)) if more else None

    async def count(self) -> LearningCount:
        """See the port."""
        rows = await self._unit.rows(
            select(LEARNING.c.state, func.count().label("number"))
            .where(self._unit.owned(LEARNING))
            .group_by(LEARNING.c.state)
        )
        return LearningCount(**{row.state: row.number for row in rows})

    async def _set(
        self, lessons: Sequence[Lesson], *, of: Sequence[LearningState], **values: Any
    ) -> int:
        """Writes columns of lessons that are in one of these states."""
        places = [(one.resource.session_id, one.resource.source_id) for one in lessons]
        statement = update(LEARNING).where(
            self._unit.owned(LEARNING),
            LEARNING.c.state.in_(of),
            among(places, LEARNING.c.session_id, LEARNING.c.source_id),
        )
        return await self._unit.run(statement.values(updated_at=func.now(), **values))


def _lesson(row: Row[Any]) -> Lesson:
    resource = Resource.model_validate(row, from_attributes=True)
    columns = {**row._mapping, "resource": resource, "extracted": row.extracted or ()}  # noqa: SLF001
    return read_stored(Lesson, columns, what=f"learning {row.session_id}/{row.source_id}")
