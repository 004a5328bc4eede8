"""Finds the node of a plan that an activity in a job's history belongs to.

A history names activities, not nodes: the activity's input and the plan's own order, tell the node.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mnestic.memory.jobs.plans import (
    END,
    EmitNode,
    MemoryNode,
    Node,
    Plan,
    RecallNode,
    RememberNode,
    ThinkNode,
    ToolNode,
    WaitNode,
)


class PlanWalk:
    """Follows a plan along the activities of a history."""

    def __init__(self, plan: Plan, cursor: str | None) -> None:
        """Begins at the node `cursor`, or at the plan's first."""
        self._plan = plan
        self._ahead = self._nodes([cursor or plan.nodes[0].id])
        # A run that continues a parked job starts after a wait which it did not open.
        self._at = next(iter(self._ahead), None)

    def node_of(
        self, activity: str, activity_input: Mapping[str, Any], *, summary: str | None
    ) -> Node | None:
        """The node that ran the activity, or None when more than one could have."""
        named = self._nodes([summary or ""])
        match = next(
            (
                fitting[0]
                for nodes in (named, self._ahead, self._plan.nodes)
                if len(fitting := [node for node in nodes if _fits(node, activity, activity_input)])
                == 1
            ),
            None,
        )
        if match is not None:
            self._at, self._ahead = match, self._nodes(match.successors())
        return match

    def chose(self, outcome: str) -> None:
        """Follows the outcome of the wait at which the job was."""
        if isinstance(self._at, WaitNode) and outcome in self._at.on:
            self._ahead = self._nodes([self._at.on[outcome]])

    def _nodes(self, names: Iterable[str]) -> tuple[Node, ...]:
        wanted = set(names) - {END}
        return tuple(node for node in self._plan.nodes if node.id in wanted)


def _fits(node: Node, activity: str, activity_input: Mapping[str, Any]) -> bool:
    match node:
        case ToolNode():
            return activity == node.activity
        case WaitNode():
            context = activity_input.get("context") or {
                "cursor_node": node.id
            }  # local activities do not record it
            return activity == "mnestic.open_wait" and context.get("cursor_node") == node.id
        case ThinkNode() | RecallNode():
            saved_as = node.save_as or node.id
            return activity == f"mnestic.{node.kind}" and activity_input.get("save_as") == saved_as
        case MemoryNode():
            of_node = {"name": node.operation, "save_as": node.variable}
            given = {name: activity_input.get(name) for name in of_node}
            return activity == "mnestic.operate" and given == of_node
        case EmitNode():
            return activity == "mnestic.remember" and _channel(activity_input) == node.channel
        case RememberNode():
            return activity == "mnestic.remember"


def _channel(activity_input: Mapping[str, Any]) -> str | None:
    """The channel of a message of the assistant; None if the activity writes none."""
    message = (activity_input.get("write") or {}).get("message") or {}
    channel: str | None = message.get("channel")
    return channel if message.get("role") == "assistant" else None
