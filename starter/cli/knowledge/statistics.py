"""`mnestic stats`: how much an agent's memory holds, and what maintenance did last."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnestic.memory.knowledge.ingestion import MemoryStatistics
from mnestic.memory.maintenance.reports import MaintenanceReport, MemoryGrowth
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.known_agents import Agent, warn_if_unknown
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run


def stats(agent: Agent, as_json: AsJson = False) -> None:
    """Show the statistics of an agent's memory."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import find_delay

        async with await connect_client() as client, warn_if_unknown(client, agent):
            statistics = await client.memory(agent).stats()
            delay = await find_delay(client, agent_id=agent)
            last_runs = await client.maintenance.list_last_reports()
            growth = await client.maintenance.growth()
        if as_json:
            why = delay.why if delay else None
            runs = {report.kind: report.model_dump(mode="json") for report in last_runs}
            of_tenant = {"last_runs": runs, "growth": growth.model_dump(mode="json")}
            print_json(statistics.model_dump(mode="json") | {"delay": why} | of_tenant)
            return
        rows = [*_numbers(statistics), *map(_last_run, last_runs), *_growth(growth)]
        print_table(("what", "number"), rows, empty="")
        if delay is not None:
            out.print(f"Extraction waits: {delay.why}", soft_wrap=True)

    run(work())


def _last_run(report: MaintenanceReport) -> tuple[str, str]:
    """What the last run of a kind of maintenance did, for all agents of the tenant."""
    counts = ", ".join(
        f"{name.replace('_', ' ')} {number}" for name, number in report.counts.items()
    )
    return f"last {report.kind}, all agents", f"{report.started_at:%Y-%m-%d %H:%M}: {counts or '-'}"


def _growth(growth: MemoryGrowth) -> Iterator[tuple[str, str]]:
    """How much the tenant's memory holds, and what has been added since the last runs."""
    yield "all agents", _sizes(growth.sizes.model_dump(), form="")
    for kind, added in growth.since_last.items():
        yield f"  since the last {kind}", _sizes(added, form="+")


def _sizes(numbers: Mapping[str, int], *, form: str) -> str:
    counts = {name: f"{number:{form}}" for name, number in numbers.items()}
    counts["memory_bytes"] = f"{numbers['memory_bytes'] / 2**20:{form}.1f} MiB"
    return ", ".join(
        f"{name.removesuffix('_bytes').replace('_', ' ')} {number}"
        for name, number in counts.items()
        if number != "+0"
    )


def _numbers(statistics: MemoryStatistics) -> Iterator[tuple[str, Any]]:
    entries = statistics.entries
    yield "entries", entries.total
    groups: dict[str, Mapping[Any, int]] = {
        "searchable ": entries.by_kind,
        "": entries.by_type,
        "status ": entries.by_status,
        "importance ": {
            f"{tenth / 10:.1f}": number
            for tenth, number in enumerate(entries.by_importance)
            if number
        },
        "vectors of ": entries.embedded,
        "messages ": statistics.ingest_states.model_dump(),
        "facts ": statistics.facts,
        "archived as ": statistics.archived,
    }
    for group, numbers in groups.items():
        yield from ((f"  {group}{name}", number) for name, number in numbers.items())
    yield "critical", entries.critical
    yield "expired", entries.expired
    yield "oldest", entries.oldest
    yield "newest", entries.newest
    yield "last learned from a message", statistics.last_learned_at
    for one in statistics.searches:
        found = f"{one.searches}, with results {one.with_results}, cached {one.cached}"
        yield f"{one.mode} searches by {one.source}, 30 days", found
    for name, size in entries.row_bytes.items():
        yield f"rows of {name}", f"{size / 2**20:.1f} MiB"
