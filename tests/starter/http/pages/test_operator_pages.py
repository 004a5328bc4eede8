"""What operators see, without a browser: the audit log, costs, maintenance and the graph."""

import re
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from mnestic.memory.graph.graph import Edge, Graph, Node
from mnestic.memory.maintenance.policies import MaintenancePolicy
from mnestic.memory.maintenance.policy_changes import paths_of
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.pages.graph_drawing import HEIGHT, WIDTH, draw
from tests.starter.http.conftest import NewKey
from tests.starter.http.pages.conftest import Browse

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def graph_of(pairs: list[tuple[str, str]]) -> Graph:
    names = sorted({name for pair in pairs for name in pair})
    edges = tuple(
        Edge(id=f"{a}{b}", source=a, target=b, predicate="knows", weight=1, valid_from=NOW)
        for a, b in pairs
    )
    return Graph(nodes=tuple(Node(key=name, name=name) for name in names), edges=edges)


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "b")],
        [("a", "a")],
        [("hub", f"n{i}") for i in range(40)],
        [(f"n{i}", f"n{(i * 7 + 1) % 60}") for i in range(60)],
    ],
)
def test_nodes_stand_in_the_picture_and_apart(pairs: list[tuple[str, str]]) -> None:
    graph = graph_of(pairs)

    drawing = draw(graph)

    places = {(node.x, node.y) for node in drawing.nodes}
    assert len(places) == len(graph.nodes)
    assert all(0 < x < drawing.width and 0 < y < drawing.height for x, y in places)
    assert draw(graph) == drawing
    assert len(drawing.edges) == len(pairs)


async def test_the_graph_is_drawn_as_it_was(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    facts, now = client.memory("ada").facts, datetime.now(UTC)
    await facts.add("Mara", "lives_in", "Porto", valid_from=now - timedelta(days=400))
    await facts.add("Mara", "lives_in", "<b>Lisbon</b>", valid_from=now - timedelta(days=30))

    names = {}
    for days in (0, 200, 800):
        on = f"{now - timedelta(days=days):%Y-%m-%d}"
        page = await browser.get("/ui/graph", params={"agent_id": "ada", "on": on})
        names[days] = re.findall(r'<g class="node[^>]*><title>(.*?)</title>', page.text)

    assert names == {0: ["Mara", "&lt;b&gt;Lisbon&lt;/b&gt;"], 200: ["Mara", "Porto"], 800: []}


async def test_a_query_of_the_contract_is_run_and_drawn(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    query = "MATCH (t:Task {id: $id})-[n:NEEDS]->(u) RETURN t, n, u"
    graph = {
        "enabled": True,
        "nodes": [{"type": "Task"}],
        "edges": [{"type": "NEEDS", "from_node": "Task", "to_node": "Task"}],
        "queries": [{"query_id": "needed", "cypher": query}],
    }
    await client.contracts().apply("ada", {"Memory": {"graph": graph}})
    memory = await client.contract("ada")
    for name in ("T1", "T2"):
        await memory.upsert_node("Task", name)
    await memory.upsert_edge("NEEDS", source="T1", target="T2")
    params = {"agent_id": "ada", "query_id": "needed"}

    linked = await browser.get("/ui/graph", params={"agent_id": "ada"})
    empty = await browser.get("/ui/graph/query", params=params)
    found = await browser.get("/ui/graph/query", params={**params, "$id": "T1"})
    wrong = await browser.get("/ui/graph/query", params={**params, "$id": "T1", "$n": "2"})

    assert "/ui/graph/query?agent_id=ada&amp;query_id=needed" in linked.text
    assert 'name="$id"' in empty.text
    assert re.findall(r'<g class="node[^>]*><title>(.*?)</title>', found.text) == ["T1", "T2"]
    assert '<td data-label="t">Task T1</td>' in found.text
    assert wrong.status_code == 422
    assert "parameters: are id, n; the query takes id" in wrong.text


async def test_what_was_put_before_a_message_is_shown_and_leads_to_the_memory(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    memory = client.memory("ada")
    kept = await memory.add("The gate code is 5531.")
    gone = await memory.add("The gate code was 7781 in the spring.")
    await memory.auto_retrieve("What is the gate code?", "chat")
    await memory.entries.delete(gone.id)

    page = (await browser.get("/ui/memory/auto-retrieval", params={"agent_id": "ada"})).text

    assert f'/ui/memory/entries/{kept.id}?agent_id=ada">The gate code is 5531.</a>' in page
    assert "deleted since" in page


async def test_the_audit_log_is_filtered_and_reads_are_folded(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    await client.memory("ada", actor="job/a1").add("Mara lives in Porto.")
    for _ in range(3):
        await browser.get("/ui/memory", params={"agent_id": "ada"})

    found = {
        name: re.findall(r'<th scope="row">(.*?)</th>', page.text)
        for name, query in {
            "all": {},
            "action": {"action": "entry."},
            "actor": {"actor": "job/a1"},
        }.items()
        if (page := await browser.get("/ui/audit", params=query))
    }
    folded = re.search(r"<summary>(\d+) reads</summary>", (await browser.get("/ui/audit")).text)

    assert {one.partition(".")[0] for one in found["action"]} == {"entry"}
    assert "entry.add" in found["actor"]
    assert "fact.list" not in found["all"]
    assert folded is not None
    assert int(folded[1]) >= 3


def test_edges_have_their_predicate_and_kinds_their_colour() -> None:
    pairs = [(f"n{i}", f"n{(i * 7 + 1) % 60}") for i in range(60)]
    graph = graph_of([*pairs, ("n1", "n0"), ("n0", "n1")])
    edges = tuple(
        edge.model_copy(update={"predicate": f"p{number % 12}"})
        for number, edge in enumerate(graph.edges)
    )

    drawing = draw(graph.model_copy(update={"edges": edges}))

    assert {edge.predicate for edge in drawing.edges} == set(drawing.predicates)
    assert {edge.kind for edge in drawing.edges} == set(range(8))
    assert len({edge.label_at for edge in drawing.edges}) == len(edges)
    assert drawing.width * drawing.height / len(graph.nodes) >= WIDTH * HEIGHT / 26


async def test_the_policy_is_edited_and_a_refusal_stands_beside_its_field(
    browser: httpx2.AsyncClient, browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    def sent(**values: str) -> dict[str, str]:
        named = {name.replace("__", "."): value for name, value in values.items()}
        return {**named, **{f"has.{name}": "1" for name in named}}

    page = (await browser.get("/ui/maintenance/policy")).text
    saved = await browser.post(
        "/ui/maintenance/policy",
        data=sent(nightly__times__hour="4", cleanup__max_age_days="120", budget__cost_usd="")
        | {"has.weekly.compress": "1"},
    )
    refused = await browser.post(
        "/ui/maintenance/policy",
        data=sent(
            nightly__times__time_zone="Mars/Olympus",
            backup__keep="many",
            weekly__times__day_of_week="",
            weekly__half_life_days="45",
        ),
    )
    policy = await client.maintenance.policy()
    async with browse(await new_key(agents=("*",), actions=("read",))) as reader:
        read_only = (await reader.get("/ui/maintenance/policy")).text

    fields = re.findall(r'<input id="policy-[^"]*" name="([^"]+)"', page)
    assert set(fields) | set(re.findall(r'type="checkbox" id="[^"]*" name="([^"]+)"', page)) == set(
        paths_of(MaintenancePolicy().model_dump(mode="json"))
    )
    assert (saved.status_code, refused.status_code) == (303, 422)
    assert (policy.nightly.times.hour, policy.cleanup.max_age_days) == (4, 120)
    assert (policy.weekly.compress, policy.weekly.half_life_days) == (False, 45)
    for path, why in (
        ("nightly-times-time_zone", "is no time zone"),
        ("backup-keep", "is not a number"),
        ("weekly-times-day_of_week", "weekly would run every day"),
    ):
        assert re.search(rf'id="policy-{path}-why"[^>]*>[^<]*{why}', refused.text)
    assert 'value="Mars/Olympus"' in refused.text
    assert ">Save<" not in read_only


def test_nodes_with_an_edge_stand_nearer_than_others() -> None:
    """Two clusters of five, joined by nothing."""
    pairs = [(f"{c}{i}", f"{c}{j}") for c in "ab" for i in range(5) for j in range(i)]
    nodes = {node.name: node for node in draw(graph_of(pairs)).nodes}

    def apart(one: str, other: str) -> float:
        a, b = nodes[one], nodes[other]
        return ((a.x - b.x) / WIDTH) ** 2 + ((a.y - b.y) / HEIGHT) ** 2

    within = max(apart(f"{c}{i}", f"{c}{j}") for c in "ab" for i in range(5) for j in range(i))
    between = [apart(f"a{i}", f"b{j}") for i in range(5) for j in range(5)]

    assert sum(between) / len(between) > within
