"""`kill -9` of a worker in the middle of maintenance: the rows are those of a run left alone."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from benchmarks.messages import messages
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.maintenance.policies import MaintenanceKind
from mnestic.memory.maintenance.reports import MaintenanceReport, MaintenanceRequest
from mnestic.memory.names import MAINTENANCE, maintenance_queue, maintenance_workflow_id
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.acceptance.knowledge import admin_url, in_database, read_knowledge

pytestmark = pytest.mark.acceptance

AGENTS = ("ada", "bo", "cy", "di", "eve")
MESSAGES = 60  # of each agent
NOW = datetime(2030, 3, 3, 12, tzinfo=UTC)
EARLIER = NOW - timedelta(days=60)  # when a first cleanup ran, of which the second deletes
# What is done of an agent's transaction, and how often it was done before: some agents are maintained, others are not.
AGENTS_POINTS = (
    ("before_maintenance_entry", 3),
    ("before_maintenance_commit", 3),
    ("after_maintenance_commit", len(AGENTS)),
)
SUMMARIES_POINTS = (
    ("before_summary_commit", 20),
    ("before_summary_commit", 90),
    ("after_summaries", 1),
)
VECTORS_POINTS = (
    ("before_maintenance_commit", 3),
    ("before_reembed_commit", 15),
    ("after_reembed", 1),
)
CASES: tuple[tuple[MaintenanceKind, str, int], ...] = (
    *(("nightly", *point) for point in (*AGENTS_POINTS, *SUMMARIES_POINTS)),
    *(("weekly", *point) for point in AGENTS_POINTS),
    *(("cleanup", *point) for point in AGENTS_POINTS),
    *(("monthly", *point) for point in VECTORS_POINTS),
)
MUST_COUNT = {
    "nightly": {
        *("records_expired", "entries_expired", "merged", "promoted", "importance_changed"),
        "summaries_built",
    },
    "weekly": {"decayed", "faded", "messages_removed", "compressed", "compressed_into"},
    "cleanup": {"archived", "deleted"},
    "monthly": {"edges_mended", "reembedded", "switched", "tables_vacuumed"},
}
GARDEN = (
    "The garden needs water in the evening.",
    "In the evening the garden needs to be watered.",
    "The garden has to get water each evening.",
)
# Of entries that another model embedded, and a graph that lacks edges.
AGED = """
UPDATE mnestic.embedding SET model = 'earlier';
UPDATE mnestic.embedding_model SET model = 'earlier';
UPDATE mnestic.corpus SET active_model = 'earlier';
UPDATE mnestic.archived_entry SET models = array_fill(CAST('earlier' AS text), ARRAY[cardinality(models)]);
DELETE FROM mnestic.graph_edge;
"""
DONE = Path(__file__).with_name("done.sql").read_text("utf-8")
Copied = Callable[[MaintenanceKind, str], AbstractContextManager["Place"]]


class Place:
    """A database with the memories of five agents, and runs of maintenance there."""

    def __init__(self, settings: Settings, start_worker: Callable[..., Any]) -> None:
        self.settings, self._start_worker = settings, start_worker

    async def run(
        self, kind: MaintenanceKind, at: datetime, *kills: str
    ) -> tuple[MaintenanceReport, list[int]]:
        """Runs maintenance of a moment, by a worker that is killed at a point and by one that goes on; returns its report and exit codes."""
        tenant = self.settings.tenant_id
        async with await MnesticClient.connect(self.settings) as client:
            run = await client.temporal.start_workflow(
                MAINTENANCE,
                MaintenanceRequest(tenant_id=tenant, kind=kind, scheduled_at=at, started_at=at),
                id=f"{maintenance_workflow_id(tenant, kind)}-{at:%Y%m%d}",
                task_queue=maintenance_queue(self.settings.task_queue),
                result_type=MaintenanceReport,
            )
            codes = []
            if kills:
                killed = self._start_worker(self.settings, *kills)
                codes.append(await asyncio.to_thread(killed.process.wait, 120))
            worker = self._start_worker(self.settings, "never")
            report: MaintenanceReport = await run.result()
            await asyncio.to_thread(worker.stop)
            return report, codes

    def rows(self) -> dict[str, Counter[Any]]:
        """All rows, by table, and what the ledger, the audit log and events say."""
        found = read_knowledge(self.settings)
        del found["maintenance_run"]  # when the run was, by the clock
        with psycopg.connect(admin_url(self.settings)) as connection:
            done = connection.execute(DONE, {"tenant": self.settings.tenant_id})
            return {**found, "done": Counter(done.fetchall())}


@pytest.fixture(scope="module")
def grown(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[..., AbstractContextManager[str]],
    start_worker: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Settings]:
    """A database in which there is something to do for each kind, with nobody connected."""
    with new_database() as url:
        settings = in_database(new_settings(tmp_path_factory.mktemp("grown") / "data"), url)
        asyncio.run(fill_all(settings, start_worker))
        place = Place(settings, start_worker)
        report, _ = asyncio.run(place.run("cleanup", EARLIER))
        assert report.counts["archived"] > len(AGENTS)
        yield settings


@pytest.fixture(scope="module")
def copied(
    grown: Settings,
    new_database: Callable[..., AbstractContextManager[str]],
    start_worker: Callable[..., Any],
) -> Copied:
    """Makes a copy of the database, with a task queue of its own and something to do for a kind."""

    @contextmanager
    def copy(kind: MaintenanceKind, queue: str) -> Iterator[Place]:
        name = conninfo_to_dict(admin_url(grown))["dbname"]
        with new_database(of=name) as url:
            if kind == "monthly":
                with psycopg.connect(url) as connection:
                    connection.execute(AGED)
            yield Place(in_database(grown, url, queue=f"-{queue}"), start_worker)

    return copy


@pytest.fixture(scope="module")
def undisturbed(copied: Copied) -> Callable[[str], Any]:
    """The report and the rows of a kind of which no worker was killed; each is run once."""

    @cache
    def of_kind(kind: MaintenanceKind) -> tuple[MaintenanceReport, dict[str, Counter[Any]]]:
        with copied(kind, kind) as place:
            report, _ = asyncio.run(place.run(kind, NOW))
            return report, place.rows()

    return of_kind


@pytest.mark.parametrize(("kind", "point", "passing"), CASES)
def test_a_worker_killed_in_the_middle_leaves_the_rows_of_a_run_that_was_left_alone(
    copied: Copied,
    undisturbed: Callable[[str], Any],
    kind: MaintenanceKind,
    point: str,
    passing: int,
) -> None:
    report, rows = undisturbed(kind)

    with copied(kind, f"{kind}-{point}-{passing}") as place:
        found, codes = asyncio.run(place.run(kind, NOW, point, str(passing)))
        left = place.rows()

    assert set(report.counts) >= MUST_COUNT[kind]
    assert codes == [-signal.SIGKILL]
    assert (found.agents, found.counts) == (report.agents, report.counts)
    assert found.problems == report.problems == ()
    for table, wanted in rows.items():
        assert (wanted - left[table], left[table] - wanted) == (Counter(), Counter()), table


async def fill_all(settings: Settings, start_worker: Callable[..., Any]) -> None:
    """Gives five agents memories, and switches the cleanup on."""
    worker = start_worker(settings, "never")
    async with await MnesticClient.connect(settings) as client:
        await client.maintenance.set_policy("always_removable", value=10_000)
        for name in ("enabled", "delete_archived"):
            await client.maintenance.set_policy(f"cleanup.{name}", value=True)
        await client.maintenance.set_policy("nightly.summarise_above_messages", value=MESSAGES + 10)
        await client.maintenance.set_policy("monthly.least_recall", value=0.5)
        for number, agent_id in enumerate(AGENTS):
            await fill(client, agent_id, number)
    await asyncio.to_thread(worker.stop)


async def fill(client: MnesticClient, agent_id: str, number: int) -> None:
    """Gives an agent messages of a year, of which some say the same, what expires, what was used and what nothing refers to."""
    memory = client.memory(agent_id)
    await memory.ingest([*make_resources(number)])
    await (await start_ingest(client, agent_id=agent_id)).result()
    for text in ("The ferry leaves at nine.", "the ferry leaves at nine!"):
        await memory.add(text, at=NOW - timedelta(days=9))
    if number == 0:  # one agent has many messages, of which some are alike
        months_ago = NOW - timedelta(days=130)
        for place in range(15):
            await memory.add(f"Bus {place} was late.", at=months_ago + timedelta(days=place))
        for place, text in enumerate(GARDEN):
            await memory.add(text, at=months_ago + timedelta(hours=place))
    until = NOW - timedelta(days=1)
    await memory.add("The code is 4711.", at=NOW - timedelta(days=9), expires_at=until)
    await memory.records.set("door", "code", "4711", ttl=timedelta(seconds=1))
    facts, _ = await memory.facts.list(limit=10)
    for fact in facts[:3]:
        await memory.retrieve(f"{fact.subject} {fact.predicate} {fact.object}")  # which is a use
    entries, _ = await memory.entries.list(EntryQuery(), limit=500)
    sent = {one.source_id: one for one in make_resources(number)}
    unused = [
        entry
        for entry in entries
        if entry.source_id in sent and not await memory.entries.list_facts(entry)
    ]
    await memory.entries.delete(unused[0].id)
    await memory.ingest([sent[str(unused[0].source_id)]])  # again; nothing refers to it


def make_resources(number: int) -> Iterator[Resource]:
    """Messages of a year that ends a week before the runs."""
    began = NOW - timedelta(days=365)
    for place, message in enumerate(messages(MESSAGES, seed=number, telling=0.5)):
        yield message.model_copy(update={"at": began + place * timedelta(days=358) / MESSAGES})
