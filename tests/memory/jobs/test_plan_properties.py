"""Any plan: what is accepted ends or waits, and loops are found exactly."""

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.jobs.plan_checks import check_plan
from mnestic.memory.jobs.plans import Plan, WaitNode
from tests.memory.jobs.plan_samples import emit, plan, problems, wait


@given(st.data())
def test_loops_are_told_exactly_for_nodes_that_come_back_to_themselves(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    ids = [f"n{number}" for number in range(count)]
    target = st.sampled_from([*ids, "end"])
    waits = data.draw(st.sets(st.sampled_from(ids)))
    following = {node_id: data.draw(st.tuples(target, target)) for node_id in ids}
    nodes = [
        wait(node_id, resumed=one, timeout=two)
        if node_id in waits
        else emit(node_id, {"on": "x", "cases": {"one": one}, "otherwise": two})
        for node_id, (one, two) in following.items()
    ]

    told = {why.split("'")[1] for _, why in problems(*nodes) if "in a loop" in why}

    assert told == comes_back(ids, waits, following)


def comes_back(ids: list[str], waits: set[str], following: dict[str, tuple[str, str]]) -> set[str]:
    """Warshall's closure over the steps that need no wait; a node on its own diagonal is in a loop."""
    step = {(a, b): a not in waits and b in following[a] for a in ids for b in ids}
    for via in ids:
        for a in ids:
            for b in ids:
                step[a, b] = step[a, b] or (step[a, via] and step[via, b])
    return {node_id for node_id in ids if step[node_id, node_id]}


TEXT = st.sampled_from(
    ["x", "${input.x}", "${imput}", "${memory.results}", "${memory.results.n0.y}", "$", "${a | b}"]
)


FORM = st.none() | st.dictionaries(
    st.sampled_from(["type", "$ref", "properties", "required", "pattern"]),
    st.sampled_from(["object", "#", "[", 3, None, [], {}, ["x"]]),
    max_size=3,
)


@st.composite
def random_plans(draw: st.DrawFn) -> Plan:
    """Plans of which some are sound: nodes that name each other, themselves or nothing that is there."""
    ids = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    target = st.sampled_from([*ids, "end", *(["gone"] if draw(st.booleans()) else [])])
    nodes = []
    for node_id in ids:
        if draw(st.booleans()):
            outcomes = {"resumed": draw(target), "timeout": draw(target)}
            nodes.append(wait(node_id, **outcomes) | {"form": draw(FORM), "ask": draw(TEXT)})
            continue
        branch = {"on": draw(TEXT), "cases": {"x": draw(target)}, "otherwise": draw(target)}
        following = draw(target) if draw(st.booleans()) else branch
        catch = {"catch": draw(st.none() | target), "content": draw(TEXT)}
        nodes.append(emit(node_id, following) | catch)
    return plan(*nodes)


@given(random_plans(), st.data())
def test_a_plan_that_is_accepted_ends_or_waits_whatever_its_nodes_do(
    made: Plan, data: st.DataObject
) -> None:
    if check_plan(made):
        return
    node_id = data.draw(st.sampled_from([node.id for node in made.nodes]))

    walked = 0
    while node_id != "end" and not isinstance(made.node(node_id), WaitNode):
        node_id = data.draw(st.sampled_from(made.node(node_id).successors()))
        walked += 1

    assert walked <= len(made.nodes)
