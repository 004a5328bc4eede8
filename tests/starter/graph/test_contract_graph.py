"""The graph of a contract: nodes and edges that it declares, those of facts beside them, and queries in Cypher."""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.graph.engines import GraphEngines, GraphKey, engines_of
from mnestic.memory.contract.document import GraphMemory
from mnestic.memory.errors import InvalidInputError, KeptOutError
from mnestic.memory.graph.graph import LoadedGraph, LoadedPart
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Execute

GRAPH: dict[str, Any] = {
    "enabled": True,
    "nodes": [
        {"type": "Task", "properties": ["title", "effort", "done"]},
        {"type": "Person", "properties": ["team"]},
    ],
    "edges": [
        {"type": "DEPENDS_ON", "from_node": "Task", "to_node": "Task", "properties": ["weight"]},
        {"type": "OWNS", "from_node": "Person", "to_node": "Task"},
        {"type": "OWNS", "from_node": "Person", "to_node": "Person"},
    ],
    "queries": [
        {
            "query_id": "blockers",
            "cypher": "MATCH (t:Task {id: $id})-[:DEPENDS_ON*1..5]->(b:Task) RETURN b.id AS id ORDER BY id",
        },
        {
            "query_id": "owners",
            "cypher": "MATCH (p:Person)-[o:OWNS]->(t:Task) WHERE t.effort > $least RETURN p, o, t",
        },
        {
            "query_id": "employers",
            "cypher": "MATCH (p:Person)-[:works_for]->(n:Name) RETURN p.id, n.id",
        },
        {"query_id": "nowhere", "cypher": "MATCH (a)-[e:flies_to|sails_to]->(b) RETURN a.id, b.id"},
        {
            "query_id": "load",
            "cypher": "MATCH (t:Task) RETURN count(*) AS tasks, sum(t.effort) AS effort, collect(t.done) AS done",
        },
        {"query_id": "wrong", "cypher": "MATCH (t:Task) RETURN t.colour"},
    ],
}
DOCUMENT = {"Memory": {"graph": GRAPH}}


@pytest.fixture
async def contract(client: MnesticClient) -> ContractMemory:
    await client.contracts().apply("ada", DOCUMENT)
    return await client.contract("ada")


@pytest.fixture
async def tasks(contract: ContractMemory) -> ContractMemory:
    """Three tasks, each of which depends on the next, and somebody who owns the first."""
    for number, effort in enumerate((3, 5.5, 8), start=1):
        await contract.upsert_node("Task", f"T{number}", {"effort": effort, "done": number == 3})
    await contract.upsert_node("Person", "Mara", {"team": "search"})
    await contract.upsert_edge("DEPENDS_ON", source="T1", target="T2", properties={"weight": 0.5})
    await contract.upsert_edge("DEPENDS_ON", source="T2", target="T3")
    await contract.upsert_edge("OWNS", source="mara", target="T1")
    return contract


async def test_queries_run_on_declared_nodes_edges_and_facts(
    client: MnesticClient, tasks: ContractMemory
) -> None:
    await client.memory("ada").facts.add("Mara", "works_for", "Acme")

    blockers = await tasks.query_graph("blockers", {"id": "T1"})
    owners = await tasks.query_graph("owners", {"least": 2})
    employers = await tasks.query_graph("employers")
    load = await tasks.query_graph("load")
    nowhere = await tasks.query_graph("nowhere")

    assert (blockers.columns, blockers.rows) == (("id",), (("T2",), ("T3",)))
    assert [row[2]["id"] for row in owners.rows] == ["T1"]
    assert {node.name: node.type for node in owners.nodes} == {"Mara": "Person", "T1": "Task"}
    assert [(edge.source, edge.predicate, edge.target) for edge in owners.edges] == [
        ("mara", "OWNS", "t1")
    ]
    assert employers.rows == (("Mara", "Acme"),)
    assert load.rows == ((3, 16.5, [False, False, True]),)
    assert nowhere.rows == ()


async def test_a_query_sees_each_change_of_the_graph(
    client: MnesticClient, tasks: ContractMemory
) -> None:
    before = await tasks.query_graph("blockers", {"id": "T1"})
    await tasks.delete_edge("DEPENDS_ON", source="T2", target="T3")
    after = await tasks.query_graph("blockers", {"id": "T1"})
    facts = client.memory("ada").facts
    await facts.add("Mara", "works_for", "Acme")
    added = await tasks.query_graph("employers")
    ((fact, *_), _) = await facts.list(subject="Mara")
    await facts.delete(fact.id)
    removed = await tasks.query_graph("employers")

    assert [len(one.rows) for one in (before, after, added, removed)] == [2, 1, 1, 0]


async def test_the_graph_is_read_as_it_was(tasks: ContractMemory) -> None:
    before = datetime.now(UTC)
    await tasks.upsert_node("Task", "T1", {"title": "Launch"})
    await tasks.delete_node("T2")

    now = await tasks.subgraph("T1", depth=2)
    then = await tasks.subgraph("T1", depth=2, at=before)

    assert {(edge.predicate, edge.target) for edge in now.edges} == {("OWNS", "t1")}
    assert {edge.target for edge in then.edges} == {"t1", "t2", "t3"}
    properties = {node.name: node.properties for node in now.nodes}
    assert properties["T1"] == {"title": "Launch"}
    assert {node.name: node.properties for node in then.nodes}["T1"] == {"effort": 3, "done": False}
    assert (await tasks.subgraph("T1", at=before - timedelta(days=9))).nodes == ()


async def test_neighbours_are_of_a_type_and_a_direction(tasks: ContractMemory) -> None:
    both = await tasks.neighbours("t1")
    out = await tasks.neighbours("T1", direction="out")
    owned = await tasks.neighbours("T1", edge_type="OWNS", direction="in")
    none = await tasks.neighbours("T1", edge_type="OWNS", direction="out")

    assert {edge.predicate for edge in both.edges} == {"OWNS", "DEPENDS_ON"}
    assert [edge.target for edge in out.edges] == ["t2"]
    assert [edge.source for edge in owned.edges] == ["mara"]
    assert [node.name for node in none.nodes] == ["T1"]


async def test_paths_are_the_shortest_ones(client: MnesticClient, tasks: ContractMemory) -> None:
    await tasks.upsert_node("Task", "T9")
    await tasks.upsert_edge("DEPENDS_ON", source="T1", target="T9")
    await tasks.upsert_edge("DEPENDS_ON", source="T9", target="T3")
    await client.memory("ada").facts.add("Mara", "works_for", "Acme")

    both = await tasks.paths("T1", "T3")
    one = await tasks.paths("T1", "T3", limit=1)
    of_fact = await tasks.paths("Acme", "T3")
    too_far = await tasks.paths("Acme", "T3", max_length=3)

    names = {edge.id: f"{edge.source}-{edge.target}" for edge in both.edges}
    assert {tuple(names[edge] for edge in path) for path in both.paths} == {
        ("t1-t2", "t2-t3"),
        ("t1-t9", "t9-t3"),
    }
    assert (len(one.paths), one.is_cut, both.is_cut) == (1, True, False)
    assert {len(path) for path in of_fact.paths} == {4}
    assert too_far.paths == ()
    assert (await tasks.paths("T1", "T1")).paths == ((),)


async def test_an_unchanged_write_writes_nothing(tasks: ContractMemory) -> None:
    edge = await tasks.upsert_edge("OWNS", source="Mara", target="T1")
    again = await tasks.upsert_edge("OWNS", source="Mara", target="T1")

    assert edge == again
    assert (await tasks.delete_node("nobody")).model_dump() == {"nodes": 0, "edges": 0}
    assert (await tasks.delete_node("T2")).model_dump() == {"nodes": 1, "edges": 2}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ("upsert_node", {"node_type": "Team", "node_id": "x"}),
            "node_type: 'Team' is not in the contract; there are Task, Person",
        ),
        (
            ("upsert_node", {"node_type": "Task", "node_id": "x", "properties": {"colour": 1}}),
            "properties: Task has no property 'colour'; it has title, effort, done",
        ),
        (
            ("upsert_node", {"node_type": "Task", "node_id": "x", "properties": {"key": 1}}),
            "properties: key is given by the graph",
        ),
        (
            ("upsert_node", {"node_type": "Task", "node_id": "Mara"}),
            "node_id: 'Mara' is a node of the type Person; delete it first, or use another id",
        ),
        (
            ("upsert_edge", {"edge_type": "LIKES", "source": "Mara", "target": "T1"}),
            "edge_type: 'LIKES' is not in the contract; there are DEPENDS_ON, OWNS",
        ),
        (
            ("upsert_edge", {"edge_type": "OWNS", "source": "Mara", "target": "T7"}),
            "target: there is no node 'T7'; write it first",
        ),
        (
            ("upsert_edge", {"edge_type": "OWNS", "source": "T1", "target": "Mara"}),
            "edge_type: OWNS goes from Person to Task or from Person to Person, not from Task to Person",
        ),
        (
            ("query_graph", {"query_id": "none"}),
            "query_id: 'none' is not in the contract; there are blockers, owners, employers",
        ),
        (
            ("query_graph", {"query_id": "blockers", "parameters": {"key": "T1"}}),
            "parameters: are key; the query takes id",
        ),
        (
            ("query_graph", {"query_id": "blockers", "parameters": {"id": b"T1"}}),
            "parameters.id: is a bytes, not a JSON value",
        ),
        (
            ("query_graph", {"query_id": "wrong"}),
            "query: Binder exception: Cannot find property colour for t",
        ),
    ],
)
async def test_what_the_contract_does_not_have_is_refused(
    tasks: ContractMemory, call: tuple[Any, dict[str, Any]], message: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await tasks.operate(*call)

    assert str(refused.value).startswith(message)


async def test_a_query_that_the_engine_refuses_leaves_an_audit_row(
    tasks: ContractMemory, execute: Execute
) -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        await tasks.query_graph("wrong")

    rows = execute(
        "SELECT target, reason FROM mnestic.audit_log"
        " WHERE tenant_id = %s AND action = 'memory.query_graph'"
    )
    assert rows == [("wrong", "refused: InvalidInputError")]


async def test_without_a_graph_in_the_contract_operations_are_refused(
    client: MnesticClient,
) -> None:
    await client.contracts().apply("ada", {"Memory": {"graph": {**GRAPH, "enabled": False}}})
    memory = await client.contract("ada")

    with pytest.raises(InvalidInputError, match="has no graph that is enabled"):
        await memory.subgraph()


AT = datetime(2026, 3, 1, tzinfo=UTC)
KEY = GraphKey("t", "ada", "ada", 1)


def small_graph(count: int, *, revision: int = 1, until: datetime | None = None) -> LoadedGraph:
    nodes = [
        LoadedPart(None, f"t{i}", f"T{i}", "Task", None, None, None, str(AT), None, {})
        for i in range(count)
    ]
    edges = [
        node._replace(id=node.source, type="DEPENDS_ON", target_key="t0", target="T0", weight=1)
        for node in nodes
    ]
    return LoadedGraph(revision, AT - timedelta(days=1), until, [*nodes, *edges])


async def run(engines: GraphEngines, graph: LoadedGraph | None, cypher: str, **more: Any) -> Any:
    rules = GraphMemory.model_validate(GRAPH)
    fields = {"parameters": {}, "limit": 5, "rules": rules, "cypher": cypher, **more}
    return await engines.run(fields.pop("key", KEY), graph, **fields)


@pytest.mark.acceptance
@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (a:Task), (b:Task), (c:Task) WHERE a.id + b.id + c.id = 'x' RETURN count(*)",
        "UNWIND range(1, 1000000000) AS x RETURN sum(x)",
        "MATCH (a:Task), (b:Task) RETURN collect(a.id + b.id + a.id + b.id)",
    ],
)
async def test_a_query_that_takes_too_much_is_ended(cypher: str) -> None:
    engines = GraphEngines(query_s=0.3)

    with pytest.raises(InvalidInputError, match="make it find less"):
        await run(engines, small_graph(3000), cypher)

    engines.close()


async def test_a_query_cannot_write_nor_harm_the_loaded_graph() -> None:
    engines, graph = GraphEngines(), small_graph(3)
    before = await run(engines, graph, "MATCH (t:Task) RETURN t.id, t.effort")

    for cypher, why in (
        ("MATCH (t:Task) WHERE 1=1SET t.effort = 9", "read-only"),
        ("COMMENT ON TABLE Task IS 'x'", "read-only"),
        ("RETURN {_LABEL: 'x'}", "key"),
        ("RETURN {_LABEL: 'x', key: 1}", "is none"),
        ("RETURN 1; RETURN 2", "has_next"),
        ("MATCH (a)-[:" + "|".join(f"E{n}" for n in range(30)) + "]->() RETURN a", "more than 20"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            await run(engines, None, cypher)

    assert await run(engines, None, "MATCH (t:Task) RETURN t.id, t.effort") == before
    engines.close()


async def test_a_property_cannot_take_the_place_of_an_id() -> None:
    engines = GraphEngines()
    nodes = [{"type": "Task", "properties": ["ID"]}]

    found = await run(
        engines,
        small_graph(1),
        "MATCH (t:Task) RETURN t",
        rules=GraphMemory.model_validate({"enabled": True, "nodes": nodes}),
    )

    assert [node.name for node in found.nodes] == ["T0"]
    engines.close()


async def test_a_query_reads_and_writes_no_file(tmp_path: Any) -> None:
    engines = GraphEngines()
    await run(engines, small_graph(3), "RETURN 1")
    file = tmp_path / "out.csv"

    for cypher in (
        f"COPY (MATCH (t:Task) RETURN t.id) TO '{file}'",
        "LOAD FROM '/etc/passwd' (file_format='csv', delim='~') RETURN *",
    ):
        with pytest.raises(InvalidInputError, match="Too many open files"):
            await run(engines, None, cypher)

    assert not file.exists()
    engines.close()


async def test_a_graph_is_loaded_as_it_is_and_the_oldest_goes() -> None:
    engines, threads = GraphEngines(most=2), threading.active_count()
    keys = [KEY._replace(agent_id=name) for name in ("a", "b", "c")]
    for number, key in enumerate(keys):
        found = await run(
            engines,
            small_graph(3, revision=number, until=AT),
            "MATCH (t:Task) RETURN t.id",
            key=key,
            limit=2,
        )
        assert (len(found.rows), found.is_cut) == (2, True)
    tick = timedelta(seconds=1)

    assert not engines.has(keys[0], revision=0, at=AT - tick)
    assert engines.has(keys[2], revision=2, at=AT - tick)
    assert not engines.has(keys[2], revision=3, at=AT - tick)
    assert not engines.has(keys[2], revision=2, at=AT)
    engines.close()
    assert not engines.has(keys[2], revision=2, at=AT - tick)
    assert threading.active_count() <= threads + 4


class Slow(list[LoadedPart]):
    """Parts of a graph that take as long to load as the test says."""

    def __init__(self, parts: Iterable[LoadedPart]) -> None:
        super().__init__(parts)
        self.go_on = threading.Event()

    def __iter__(self) -> Iterator[LoadedPart]:
        self.go_on.wait()
        return super().__iter__()


async def test_who_waits_for_a_graph_holds_up_neither_others_nor_other_work() -> None:
    engines, graph = GraphEngines(), small_graph(1)
    parts = Slow(graph.parts)
    slow = graph._replace(parts=parts)
    waiting = [asyncio.create_task(run(engines, slow, "RETURN 1")) for _ in range(10)]
    try:
        async with asyncio.timeout(20):
            other = await run(engines, graph, "RETURN 2", key=KEY._replace(agent_id="eve"))
            beside = await asyncio.to_thread(int)
    finally:
        parts.go_on.set()
        found = await asyncio.gather(*waiting)

    assert (other.rows, beside) == (((2,),), 0)
    assert {one.rows for one in found} == {((1,),)}
    engines.close()


async def test_queries_of_one_graph_run_one_after_the_other(
    client: MnesticClient, tasks: ContractMemory
) -> None:
    results = await asyncio.gather(
        *(tasks.query_graph("blockers", {"id": f"T{1 + i % 2}"}) for i in range(8))
    )

    assert [len(one.rows) for one in results] == [2, 1] * 4
    assert len(engines_of(client._memory)._engines) == 1


async def test_an_export_brings_the_declared_graph_to_another_agent_once(
    client: MnesticClient, tasks: ContractMemory
) -> None:
    await tasks.upsert_node("Task", "T1", {"effort": 9})
    await tasks.upsert_edge("DEPENDS_ON", source="T1", target="T2", properties={"weight": 2})
    await tasks.delete_node("T3")
    await client.contracts().apply("eve", DOCUMENT)
    eve, copy = client.memory("eve"), await client.contract("eve")
    await copy.upsert_node("Person", "T2")
    lines = [line async for line in client.memory("ada").export()]

    first, again = [await eve.import_lines(lines) for _ in range(2)]

    assert [line.kind for line in lines] == ["export", *["node"] * 5, *["edge"] * 4, "end"]
    assert (first.nodes, first.edges) == (4, 4)  # T2 is there, of another type
    assert (again.nodes, again.edges) == (0, 0)
    copied = {node.name: node.properties for node in (await copy.subgraph("T1")).nodes}
    assert copied["T1"] == {"effort": 9}
    blockers = [await one.query_graph("load") for one in (copy, tasks)]
    assert [one.rows[0][0] for one in blockers] == [1, 2]


@pytest.mark.usefixtures("worker")
async def test_forgetting_a_topic_takes_nodes_and_edges_and_keeps_them_out(
    client: MnesticClient, tasks: ContractMemory
) -> None:
    await tasks.upsert_node("Task", "T2", {"title": "Call Otilia. Then rest."})
    await tasks.upsert_node("Person", "Otilia", {"team": "search"})
    await tasks.upsert_edge("OWNS", source="Otilia", target="T3")
    assert len((await tasks.query_graph("owners", {"least": 0})).rows) == 2
    ada = client.memory("ada")
    older = [line async for line in ada.export()]

    shown = await ada.preview_forget("Otilia")
    await ada.forget("Otilia", confirm=shown.token, keep_out=True)

    rows = (await tasks.query_graph("owners", {"least": 0})).rows
    left = {node.name: node.properties for node in (await tasks.subgraph("T1", depth=3)).nodes}
    assert [row[0]["id"] for row in rows] == ["Mara"]
    assert set(left) == {"T1", "T2", "T3", "Mara"}
    assert "Otilia" not in str(left["T2"])
    assert "rest" in str(left["T2"])
    with pytest.raises(KeptOutError):
        await tasks.upsert_node("Person", "Otilia")
    count = await ada.import_lines(older)
    assert (count.nodes, count.edges) == (0, 0)
