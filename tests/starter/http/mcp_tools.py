"""A valid call of each MCP tool, and what its key must allow: a tool without one here fails the tests."""

from dataclasses import dataclass, field
from typing import Any

PLAN = """
name: asking
nodes:
  - {id: ask, kind: wait, key: ask, ask: "May it go out?", timeout: 21d, on: {resumed: end, timeout: end}}
"""
NO_MEMORY = {"memory_id": "no-such-memory"}
RELATIONS = {"relations": [{"from": "Mara", "to": "Porto", "relationType": "lives in"}]}


@dataclass(frozen=True, kw_only=True)
class ToolCase:
    """A call."""

    action: str
    arguments: dict[str, Any] = field(default_factory=dict)


CASES: dict[str, dict[str, ToolCase]] = {
    "/mcp": {
        "remember": ToolCase(action="write", arguments={"text": "Mara lives in Porto."}),
        "recall": ToolCase(action="read", arguments={"question": "Where does Mara live?"}),
        "context": ToolCase(action="read", arguments={"question": "Where does Mara live?"}),
        "forget": ToolCase(action="forget", arguments={"topic": "Porto"}),
        "list_facts": ToolCase(action="read"),
        "get_memory": ToolCase(action="read", arguments=NO_MEMORY),
        "update_memory": ToolCase(action="write", arguments=NO_MEMORY | {"pinned": True}),
        "delete_memory": ToolCase(action="write", arguments=NO_MEMORY),
        "start_job": ToolCase(action="jobs", arguments={"plan": PLAN, "session_id": "s"}),
        "list_waiting_jobs": ToolCase(action="jobs"),
        "resume_job": ToolCase(action="jobs", arguments={"job_id": "no-such-job"}),
    },
    "/mcp/entities": {
        "create_entities": ToolCase(
            action="write",
            arguments={"entities": [{"name": "Ida", "entityType": "person", "observations": []}]},
        ),
        "create_relations": ToolCase(action="write", arguments=RELATIONS),
        "add_observations": ToolCase(action="write", arguments={"observations": []}),
        "delete_entities": ToolCase(action="write", arguments={"entityNames": ["Mara"]}),
        "delete_observations": ToolCase(action="write", arguments={"deletions": []}),
        "delete_relations": ToolCase(action="write", arguments=RELATIONS),
        "read_graph": ToolCase(action="read"),
        "search_nodes": ToolCase(action="read", arguments={"query": "Where does Mara live?"}),
        "open_nodes": ToolCase(action="read", arguments={"names": ["Mara"]}),
    },
}
EACH = [(path, name) for path, tools in CASES.items() for name in tools]
