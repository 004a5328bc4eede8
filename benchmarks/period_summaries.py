"""Measures summaries of large memories by time: `python benchmarks/period_summaries.py --json`; progress goes to standard error.

Each memory is a year of messages of an agent, some of which state facts that later ones supersede, and a tenth of which is
archived. A night builds all summaries, one more finds nothing to do, and a third follows one late message. Postgres is an embedded one, in a directory
that is removed afterwards.
"""

import argparse
import asyncio
import itertools
import math
import re
import resource
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.default_settings import default_settings
from benchmarks.large_agents import multiply
from benchmarks.messages import messages
from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.maintenance.period_summaries import PeriodSummaryBuilder
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import ArchiveMark, EntryQuery
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.output import print_json, print_progress
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.stores.postgres.schema import migrate

AGENT = "ada"
BASE = 12_500  # messages that are ingested; larger memories are copies of them
SIZES = (BASE, 2 * BASE, 8 * BASE)
_SEED, _AT_ONCE = 11, 500
_YEAR, _BEGAN = timedelta(days=364), datetime(2025, 1, 6, tzinfo=UTC)
_NIGHT = datetime(2026, 3, 1, 3, tzinfo=UTC)
_FACTS = (
    (re.compile(r"I live in (.+)\.$"), "lives_in"),
    (re.compile(r"I work at (.+)\.$"), "employer"),
    (re.compile(r"I like (.+)\.$"), "likes"),
)


async def measure(sizes: tuple[int, ...], *, data_dir: Path) -> dict[str, Any]:
    """Seconds of a first night, of one without changes and of one after a late message, and how they grow."""
    found: dict[str, Any] = {}
    settings = Settings(data_dir=data_dir)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        memory = PostgresMemory(str(runtime.state.database_url), pool_size=5)
        await _ingest(memory)
        for size in sizes:
            await _copy(str(runtime.state.database_admin_url), size)
            await _archive_tenth(memory, size)
            found[str(size)] = await _measured(memory, size)
            print_progress(f"{size} messages: {found[str(size)]}")
        await memory.close()
    first = [(int(size), figures["first_s"]) for size, figures in found.items()]
    growth = [
        round(math.log(after / before) / math.log(large / small), 2)
        for (small, before), (large, after) in itertools.pairwise(first)
    ]
    return {"sizes": found, "exponents": growth}


async def _ingest(memory: PostgresMemory) -> None:
    """Ingests the messages of which all memories are copies."""
    ada = MemoryClient(client_caller(memory, tenant_id=_tenant(0), agent_id=AGENT))
    stream = _year(BASE)
    while batch := list(itertools.islice(stream, _AT_ONCE)):
        await ada.ingest(batch)
        async with _transaction(memory, 0, write=True) as transaction:
            await transaction.facts.claim([one for each in batch for one in _claims(each)])
    print_progress(f"{BASE} messages ingested")


async def _copy(admin_url: str, size: int) -> None:
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
        copies = size // BASE
        await multiply(owner, agent=AGENT, of=_tenant(0), to=_tenant(size), copies=copies)
    print_progress(f"{size} messages copied")


def _tenant(size: int) -> str:
    return f"year-{size}"


async def _measured(memory: PostgresMemory, size: int) -> dict[str, float]:
    before = _peak_rss_mib()
    first, built = await _night(memory, size, day=0)
    peak = _peak_rss_mib()
    again, nothing = await _night(memory, size, day=1)
    ada = MemoryClient(client_caller(memory, tenant_id=_tenant(size), agent_id=AGENT))
    await ada.ingest([_late_message(size)])
    after_one, refreshed = await _night(memory, size, day=2)
    assert (nothing, refreshed) == (0, 4)
    nights = {"first_s": first, "built": built, "unchanged_s": again, "late_s": after_one}
    return {**nights, "rss_before_mib": before, "rss_peak_mib": peak}


async def _archive_tenth(memory: PostgresMemory, size: int) -> None:
    """Archives a tenth of the entries, as a cleanup does."""
    mark = ArchiveMark(archived_at=_NIGHT, reason="over_limit", run="benchmark")
    cursor, more, page = None, True, 0
    while more:
        async with _transaction(memory, size, write=True) as transaction:
            entries, cursor = await transaction.entries.list_entries(
                EntryQuery(), limit=1000, cursor=cursor
            )
            messages_only = [one.id for one in entries if one.kind == "message"]
            if page % 10 == 1:
                await transaction.archive.add(messages_only, mark)
        page, more = page + 1, cursor is not None


async def _night(memory: PostgresMemory, size: int, *, day: int) -> tuple[float, int]:
    builder = PeriodSummaryBuilder(
        lambda *, write: _transaction(memory, size, write=write),
        at=_NIGHT + timedelta(days=day),
        quoting=LocalSummariser(),
        count_tokens=count_tokens,
    )
    began = time.perf_counter()
    counts = await builder.build(above=1000)
    return round(time.perf_counter() - began, 1), counts["summaries_built"]


def _transaction(memory: PostgresMemory, size: int, *, write: bool) -> Any:
    return memory.transaction(
        tenant_id=_tenant(size), agent_id=AGENT, actor="benchmark", write=write
    )


def _year(size: int) -> Iterator[Resource]:
    for index, message in enumerate(messages(size, seed=_SEED)):
        yield message.model_copy(update={"at": _BEGAN + index * _YEAR / size})


def _late_message(size: int) -> Resource:
    """A late message of the middle of the year."""
    at = _BEGAN + _YEAR / 2
    (first,) = messages(1, seed=size)
    return first.model_copy(update={"session_id": "late", "source_id": "late", "at": at})


def _claims(message: Resource) -> Iterator[Claim]:
    source = ClaimSource(
        extractor="benchmark", session_id=message.session_id, source_id=message.source_id
    )
    for form, predicate in _FACTS:
        if (stated := form.match(message.content)) is not None:
            yield Claim(
                id=f"{message.source_id}/{predicate}",
                subject=message.speaker,
                predicate=predicate,
                object=stated[1],
                said_at=message.at,
                source=source,
            )


def _peak_rss_mib() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def main() -> None:
    """Reads the options, measures, and prints the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    read: Callable[[str], tuple[int, ...]] = lambda text: tuple(map(int, text.split(",")))  # noqa: E731
    parser.add_argument("--sizes", type=read, default=SIZES, help="messages, such as 12500,25000")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with default_settings() as folder:
        print_json(asyncio.run(measure(options.sizes, data_dir=folder)))


if __name__ == "__main__":
    main()
