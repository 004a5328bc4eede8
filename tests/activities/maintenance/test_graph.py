"""The graph: edges follow facts in the same transaction, and the month mends those that differ."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from mnestic.memory.graph.graph import Graph
from mnestic.starter.client.memory_client import MemoryClient
from tests.activities.learning_models import Execute

Run = Callable[..., Any]
JANUARY = datetime(2026, 1, 5, 9, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, 9, tzinfo=UTC)
EDGES = """
SELECT id, source, predicate, target, weight, is_active, xmin::text FROM mnestic.graph_edge WHERE tenant_id = %s ORDER BY id
"""


def told(graph: Graph) -> list[tuple[str, str, str]]:
    """The edges in words."""
    names = {node.key: node.name for node in graph.nodes}
    return [(names[edge.source], edge.predicate, names[edge.target]) for edge in graph.edges]


async def test_edges_follow_facts_and_keep_what_was_so_then(ada: MemoryClient) -> None:
    await ada.facts.add("Mara", "lives_in", "Ghent", valid_from=JANUARY, confidence=0.8)
    await ada.facts.add("Mara", "lives_in", "Porto", valid_from=JUNE, confidence=0.8)
    (wrong,) = await ada.facts.add("Mara", "likes", "tea")
    await ada.facts.delete(wrong.fact.id)

    now = await ada.graph.read("mara")
    then = await ada.graph.read("Mara", at=JUNE - timedelta(days=1))

    assert told(now) == [("Mara", "lives_in", "Porto")]
    assert told(then) == [("Mara", "lives_in", "Ghent")]
    assert then.edges[0].valid_to == JUNE
    assert [edge.weight for edge in now.edges] == [0.8]
    assert await ada.graph.read("Mara", at=JANUARY - timedelta(days=1)) == Graph(nodes=(), edges=())


async def test_a_name_is_followed_from_node_to_node(ada: MemoryClient) -> None:
    await ada.facts.add("Mara", "works_for", "Acme", confidence=0.9)
    await ada.facts.add("Mara", "also_known_as", "Mimi", confidence=0.5)
    await ada.facts.add("Acme", "located_in", "Ghent", confidence=0.7)
    await ada.facts.add("Ghent", "located_in", "Belgium", confidence=0.9)

    near = await ada.graph.read("Mimi")
    far = await ada.graph.read("Mimi", depth=2)
    cut = await ada.graph.read("Mimi", depth=5, limit=2)
    into = await ada.graph.read("Belgium")
    whole = await ada.graph.read(limit=3)

    assert told(near) == [("Mara", "works_for", "Acme"), ("Mara", "also_known_as", "Mimi")]
    assert told(far) == [*told(near), ("Acme", "located_in", "Ghent")]
    assert (told(cut), cut.is_cut, far.is_cut) == (told(near), True, False)
    assert told(into) == [("Ghent", "located_in", "Belgium")]
    assert ([edge.weight for edge in whole.edges], whole.is_cut) == ([0.9, 0.9, 0.7], True)


async def test_the_month_changes_no_edge_that_is_right_and_mends_the_others(
    ada: MemoryClient, run: Run, execute: Execute
) -> None:
    for thing in ("tea", "jazz", "rain"):
        await ada.facts.add("Mara", "likes", thing)
    before = execute(EDGES)
    right = await run(kind="monthly")
    same = execute(EDGES)
    for damage in (
        "DELETE FROM mnestic.graph_edge WHERE tenant_id = %s AND target = 'tea'",
        "UPDATE mnestic.graph_edge SET weight = 7 WHERE tenant_id = %s AND target = 'jazz'",
        """INSERT INTO mnestic.graph_edge SELECT tenant_id, agent_id, 'none', source, source_key, predicate, 'war', 'war', 1,
               true, valid_from, NULL FROM mnestic.graph_edge WHERE tenant_id = %s AND target = 'rain'""",
    ):
        execute(damage)

    dry = await run(kind="monthly", dry_run=True)
    mended = await run(kind="monthly")

    assert right.counts == {}
    assert same == before
    assert dry.counts == mended.counts == {"edges_mended": 3}
    assert [row[:-1] for row in execute(EDGES)] == [row[:-1] for row in before]
    assert {row[-1] for row in execute(EDGES) if row[3] == "rain"} <= {row[-1] for row in before}
