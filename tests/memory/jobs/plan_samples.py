"""Plans in short, of nodes that say the least."""

from typing import Any

from mnestic.memory.jobs.plan_checks import check_plan
from mnestic.memory.jobs.plans import Plan


def emit(node_id: str, next_: Any) -> dict[str, Any]:
    return {"id": node_id, "kind": "emit", "channel": "chat", "content": "x", "next": next_}


def wait(node_id: str, **on: str) -> dict[str, Any]:
    return {"id": node_id, "kind": "wait", "key": "k", "timeout": "1d", "on": on}


def tool(node_id: str = "a", **fields: Any) -> dict[str, Any]:
    return {"id": node_id, "kind": "tool", "activity": "x", "next": "end"} | fields


def plan(*nodes: dict[str, Any]) -> Plan:
    return Plan.model_validate({"name": "test", "nodes": nodes})


def problems(*nodes: dict[str, Any]) -> list[tuple[int | None, str]]:
    return [(problem.index, problem.why) for problem in check_plan(plan(*nodes))]
