"""Measures queries of a contract's graph: `python benchmarks/graph.py --json`; progress goes to standard error.

Of each number of edges: reading and loading the graph with the first query, later queries, and what the process takes of memory.
"""

import argparse
import asyncio
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.default_settings import default_settings
from benchmarks.figures import Machine, Spread, spread
from benchmarks.jobs.jobs import machine_of
from benchmarks.lanes import Lanes
from mnestic.starter.cli.output import print_json, print_progress, print_table
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.memory_connection import MemoryConnection
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

TENANT = "graph"
_QUERIES = {
    "node": "MATCH (t:Task {id: $id}) RETURN t.effort",
    "blockers": "MATCH (t:Task {id: $id})-[:DEPENDS_ON*1..3]->(b:Task) RETURN DISTINCT b.id",
    "degrees": "MATCH (t:Task)<-[:DEPENDS_ON]-(u) RETURN t.id AS id, count(*) AS n ORDER BY n DESC, id LIMIT 10",
}
_CONTRACT = {
    "Memory": {
        "graph": {
            "enabled": True,
            "nodes": [{"type": "Task", "properties": ["effort"]}],
            "edges": [{"type": "DEPENDS_ON", "from_node": "Task", "to_node": "Task"}],
            "queries": [{"query_id": name, "cypher": text} for name, text in _QUERIES.items()],
        }
    }
}
_FILL = (
    """
    INSERT INTO mnestic.graph_node (tenant_id, agent_id, key, id, type, properties, valid_from)
    SELECT 'graph', %(agent)s, 't' || n, 'T' || n, 'Task', jsonb_build_object('effort', mod(n, 10)), now()
      FROM generate_series(0, %(edges)s / 5 - 1) AS n
    """,
    """
    INSERT INTO mnestic.graph_edge (tenant_id, agent_id, id, source, source_key, predicate, target, target_key, weight,
                                    is_active, valid_from, properties)
    SELECT 'graph', %(agent)s, 'e' || n, 'T' || s, 't' || s, 'DEPENDS_ON', 'T' || t, 't' || t, 1, true, now(), '{}'
      FROM (SELECT n, mod(n, %(edges)s / 5) AS s, mod(n * 7919 + n / 5, %(edges)s / 5) AS t
              FROM generate_series(CAST(0 AS bigint), %(edges)s - 1) AS n) AS e
    """,
)


class GraphFigures(BaseModel):
    """Of each number of edges: seconds to the first answer, also of processor, milliseconds of later ones, and memory of the process."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    first_s: dict[int, float]
    first_cpu_s: dict[int, float]
    later_ms: dict[int, dict[str, Spread]]
    after_a_write_s: dict[int, float]
    process_mb: dict[int, int]


async def measure(*, sizes: tuple[int, ...], samples: int, data_dir: Path) -> GraphFigures:
    """The figures, measured in an embedded runtime of their own."""
    settings = Settings(data_dir=data_dir, tenant_id=TENANT, task_queue=TENANT)
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    async with EmbeddedRuntime(
        settings, report=print_progress, migrate=migrate, start_worker=False
    ) as runtime:
        lanes = Lanes(runtime.state, data_dir)
        async with await MemoryConnection.connect(lanes.settings(TENANT)) as client:
            for edges in sizes:
                print_progress(f"{edges} edges")
                memory = await _fill(client, str(lanes.state.database_admin_url), edges=edges)
                began = time.process_time()
                found["first_s"][edges] = await _seconds(memory)
                used = _engine().cpu_times()
                cpu_s = time.process_time() - began + used.user + used.system
                found["first_cpu_s"][edges] = round(cpu_s, 2)
                found["later_ms"][edges] = {
                    name: spread([await _ms(memory, name, n) for n in range(samples)])
                    for name in _QUERIES
                }
                await memory.upsert_node("Task", "T0", {"effort": 11})
                found["after_a_write_s"][edges] = await _seconds(memory)
                found["process_mb"][edges] = _engine().memory_info().rss // 2**20
        return GraphFigures(machine=await machine_of(lanes), **found)


def _engine() -> psutil.Process:
    """The process of the graph that was loaded last."""
    children = psutil.Process().children()
    return max(
        (one for one in children if "engine_process.py" in " ".join(one.cmdline())),
        key=psutil.Process.create_time,
    )


async def _fill(client: MemoryConnection, admin_url: str, *, edges: int) -> ContractMemory:
    """The memory of an agent with so many edges between a fifth as many nodes."""
    agent = f"ada-{edges}"
    await client.contracts().apply(agent, _CONTRACT)
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as owner:
        for statement in _FILL:
            await owner.execute(statement, {"agent": agent, "edges": edges})
        await owner.execute("VACUUM ANALYZE mnestic.graph_edge")
    return await client.contract(agent)


async def _seconds(memory: ContractMemory) -> float:
    return round(await _ms(memory, "node", 0) / 1000, 2)


async def _ms(memory: ContractMemory, name: str, number: int) -> float:
    parameters = {"id": f"T{number}"} if "$id" in _QUERIES[name] else {}
    began = time.perf_counter()
    await memory.query_graph(name, parameters)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Reads the options, measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="a small graph, to see that it runs")
    options = parser.parse_args()
    sizes, samples = ((500,), 5) if options.quick else ((10_000, 100_000), 50)
    with default_settings() as folder:
        figures = asyncio.run(measure(sizes=sizes, samples=samples, data_dir=folder))
    if options.json:
        print_json(figures.model_dump(mode="json"))
        return
    rows = [
        (str(edges), str(figures.first_s[edges]), f"{name} {one.p50:.1f} ({one.p95:.1f})")
        for edges, queries in figures.later_ms.items()
        for name, one in queries.items()
    ]
    print_table(("edges", "first query, s", "later, ms p50 (p95)"), rows, empty="")
    print_progress(str(figures.machine))


if __name__ == "__main__":
    main()
