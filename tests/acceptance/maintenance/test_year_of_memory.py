"""A year in an agent's life in simulated time: what must be active, archived, merged and summarised after each month.

The bundled conversation repeats every month. Beside it Petra moves, repeats herself, and says things that nobody says or
uses again.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.ports import Memory
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.importers.conversations import bundled_conversation
from mnestic.starter.settings import Settings
from tests.activities.maintenance.waiting_jobs import wait_with

pytestmark = pytest.mark.nightly

BEGAN = datetime(2030, 1, 7, 4, tzinfo=UTC)
MONTHS, WEEKS = 12, 4  # of 28 days: twelve months and a year's rest
MONTH = timedelta(weeks=WEEKS)
CITIES = (
    *("Ghent", "Utrecht", "Deinze", "Antwerp", "Lisbon", "Porto"),
    *("Bruges", "Turin", "Leuven", "Oslo", "Vienna", "Prague"),
)
FADES_AFTER = 4  # months: less than a tenth of 0.9 is left after 96 days
TURNING = 2  # the month, counted from 0, in which entries of the first become unimportant
ONCE = {  # what Petra says in the first month alone
    "stale": "I like chess.",
    "used": "I like maps.",
    "cited": "I like jazz.",
    "trivial": "Grey sky over the harbour.",
    "cited trivial": "Grey sky over the station.",
}
USE = """
UPDATE mnestic.entry SET last_accessed = %(at)s, access_count = access_count + 1
 WHERE tenant_id = %(tenant)s AND id = %(id)s
"""
ARCHIVED = (
    "SELECT reason, count(*) FROM mnestic.archived_entry WHERE tenant_id = %(tenant)s GROUP BY 1"
)


class Year:
    """The memory of ada, and the maintenance of it."""

    def __init__(
        self, client: MnesticClient, memory: Memory, settings: Settings, admin_url: str
    ) -> None:
        self.ada: MemoryClient = client.memory("ada")
        self._client, self._settings, self._admin_url = client, settings, admin_url
        self._activities = MaintenanceActivities(
            memory, index_vectors=_no_indexes, count_tokens=count_tokens
        )
        self.counts = Counter[str]()

    async def hear(self, messages: list[Resource]) -> None:
        """Has messages learned from."""
        await self.ada.ingest(messages)
        await (await start_ingest(self._client, agent_id="ada")).result()

    async def maintain(self, kind: MaintenanceKind, at: datetime) -> StepResult:
        """Runs a kind of maintenance for the moment; there must be no problem."""
        params = MaintenanceStep(tenant_id=self._settings.tenant_id, kind=kind, scheduled_at=at)
        result: StepResult = await ActivityEnvironment().run(self._activities.maintain, params)
        assert result.problems == (), (kind, at)
        return result

    async def week(self, begins: datetime) -> datetime:
        """Two nights, two cleanups and the end of a week; returns that end."""
        for days in (3, 7):
            at = begins + timedelta(days=days)
            kinds: tuple[MaintenanceKind, ...] = ("nightly", "cleanup")
            for kind in (*kinds, "weekly") if days == 7 else kinds:
                self.counts += Counter((await self.maintain(kind, at)).counts)
        return begins + timedelta(weeks=1)

    def use(self, entry_id: str, at: datetime) -> None:
        """An entry was retrieved at a moment."""
        with psycopg.connect(self._admin_url) as owner:
            values = {"tenant": self._settings.tenant_id, "id": entry_id, "at": at}
            assert owner.execute(USE, values).rowcount == 1

    def archived(self) -> dict[str, int]:
        """How many entries are archived, by why."""
        with psycopg.connect(self._admin_url) as owner:
            return dict(owner.execute(ARCHIVED, {"tenant": self._settings.tenant_id}).fetchall())

    async def active(self, predicate: str) -> set[str]:
        """The objects of Petra's active facts."""
        facts, _ = await self.ada.facts.list(
            subject="Petra", predicate=predicate, statuses=["active"]
        )
        return {fact.object for fact in facts}

    async def is_searchable(self, entry_id: str) -> bool:
        """Whether an entry is in no archive."""
        try:
            await self.ada.entries.get(entry_id)
        except NotFoundError:
            return False
        return True


@pytest.fixture
async def year(client: MnesticClient, memory: Memory, settings: Settings, admin_url: str) -> Year:
    """A year that begins, with the cleanup switched on."""
    await client.maintenance.set_policy("cleanup.enabled", value=True)
    await client.maintenance.set_policy("cleanup.delete_archived", value=True)
    # The conversation repeats, so half of what is new says what is known.
    await client.maintenance.set_policy("largest_removal_share", value=0.6)
    return Year(client, memory, settings, admin_url)


@pytest.mark.usefixtures("worker")
async def test_what_is_left_of_each_month_of_a_year(
    year: Year,
    memory: Memory,
    settings: Settings,
    admin_url: str,
    knowledge: Callable[[str, str], dict[str, Counter[str]]],
) -> None:
    await year.hear([*once()])
    await year.ada.add(
        "Never give Petra penicillin.", critical=True, at=BEGAN, source_id="critical"
    )
    entries = await entries_by_source(year.ada)
    facts, _ = await year.ada.facts.list(subject="Petra", predicate="likes")
    (jazz,) = [fact.id for fact in facts if fact.object == "jazz"]
    await wait_with(memory, settings, {"entry": entries["cited trivial"], "fact": jazz})

    for month in range(MONTHS):
        begins = BEGAN + month * MONTH
        for week in range(WEEKS):
            await year.hear([*make_resources(month, week)])
            year.use(entries["used"], begins + timedelta(days=7 * week + 2))
            ends = await year.week(begins + timedelta(weeks=week))
        await assert_month(year, month, entries)
    once_more = knowledge(admin_url, settings.tenant_id)
    kinds: tuple[MaintenanceKind, ...] = ("nightly", "cleanup", "weekly")
    repeated = [await year.maintain(kind, ends) for kind in kinds]
    again = [await year.maintain(kind, ends + timedelta(seconds=1)) for kind in kinds]

    assert year.counts.keys() >= {"merged", "promoted", "archived", "deleted", "decayed", "faded"}
    assert [result.agents for result in repeated] == [1, 1, 1]
    assert [result.counts for result in again] == [{}, {}, {}]
    assert knowledge(admin_url, settings.tenant_id) == once_more


async def assert_month(year: Year, month: int, entries: dict[str, str]) -> None:
    """What must be so at the end of a month, counted from 0."""
    profile = {one.name: one.summary for one in await year.ada.contexts.list_categories()}[
        "profile"
    ]
    archived = year.archived()
    names = [name for name in entries if await year.is_searchable(entries[name])]

    # What has changed is as it was said last, in facts and in the summary.
    assert await year.active("lives_in") == {CITIES[month]}
    assert f"Petra lives in {CITIES[month]}" in profile
    assert not any(f"Petra lives in {city}" in profile for city in {*CITIES} - {CITIES[month]})
    # What is repeated and what is used stays; what is neither fades, unless a waiting job refers to it.
    assert await year.active("allergic_to") == {"walnuts"}
    stale = {"chess"} if month + 1 < FADES_AFTER else set()
    assert await year.active("likes") == {"maps", "jazz"} | stale
    # Nothing critical or referenced is lost; what is trivial is archived, and deleted in the end.
    assert {"critical", "cited", "cited trivial"} <= {*names}
    if month != TURNING:
        assert ("trivial" in names) == (month < TURNING)
        assert (archived.get("unimportant", 0) > 0) == (month > TURNING)
    assert (archived.get("merged", 0) > 0) == (month > 0)


def once() -> Iterator[Resource]:
    """What Petra says in the first month alone."""
    for number, (source_id, content) in enumerate(ONCE.items()):
        yield _message("once", source_id, "Petra", content, BEGAN + timedelta(minutes=number))


def make_resources(month: int, week: int) -> Iterator[Resource]:
    """A quarter of the conversation, and what Petra says every month."""
    at = BEGAN + month * MONTH + timedelta(weeks=week, hours=6)
    session = f"month {month}"
    if week == 0:
        yield _message(session, "home", "Petra", f"I live in {CITIES[month]}.", at)
        yield _message(session, "allergy", "Petra", "I'm allergic to walnuts.", at)
    turns = [turn for session in bundled_conversation().sessions for turn in session.turns]
    for number, turn in enumerate(turns[week::WEEKS]):
        moment = at + timedelta(hours=number)
        yield _message(session, turn.id, turn.speaker, turn.text, moment)


def _message(session: str, source_id: str, speaker: str, content: str, at: datetime) -> Resource:
    return Resource(
        session_id=session,
        source_id=source_id,
        channel="chat",
        speaker=speaker,
        content=content,
        at=at,
    )


async def entries_by_source(memory: MemoryClient) -> dict[str, str]:
    """The ids of all entries of messages, by their source ids."""
    entries, _ = await memory.entries.list(EntryQuery(), limit=100)
    return {str(entry.source_id): entry.id for entry in entries}


async def _no_indexes(*_: object) -> tuple[int, int]:
    return 0, 0
