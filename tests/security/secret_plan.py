"""A plan whose every text is a secret of its tenant."""

from typing import Any

from mnestic.memory.jobs.plans import Plan

SECRET = "Vasterbotten"  # stands in every text of the victim
SESSION = "s1"
QUESTION = "Where does Mara live?"


def secret_plan() -> Plan:
    """A plan that uses every kind of node, and waits."""
    nodes: list[dict[str, Any]] = [
        {
            "id": "hear",
            "kind": "tool",
            "activity": "mnestic.read_session",
            "arguments": {"conversation": SESSION},
            "store_above": 0,
            "next": "find",
        },
        {
            "id": "find",
            "kind": "recall",
            "records": [{"namespace": "secrets"}],
            "search": {"question": QUESTION},
            "next": "think",
        },
        {
            "id": "think",
            "kind": "think",
            "prompt": QUESTION,
            "know": {},
            "retrieve": True,
            "next": "note",
        },
        {
            "id": "note",
            "kind": "remember",
            "records": [{"namespace": "secrets", "key": "noted", "value": SECRET}],
            "episode": {"summary": f"Mara lives in {SECRET}."},
            "message": {"content": f"She lives in {SECRET}."},
            "variables": {"place": SECRET},
            "next": "ask",
        },
        {
            "id": "ask",
            "kind": "wait",
            "key": "approval",
            "ask": f"Is {SECRET} right?",
            "timeout": "21d",
            "on": {"resumed": "say", "timeout": "end"},
        },
        {
            "id": "say",
            "kind": "emit",
            "channel": "chat",
            "content": f"{SECRET} it is.",
            "next": "end",
        },
    ]
    return Plan.model_validate({"name": f"{SECRET}-plan", "nodes": nodes})
