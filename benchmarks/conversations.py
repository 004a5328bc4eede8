"""A session as agents leave it: a long conversation with tool calls, of any size.

Snapshots and working memory are measured with the same one.
"""

import json
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import count

from mnestic.memory.canonical import canonical_json
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def with_conversation(state: WorkingMemory, room_bytes: int) -> WorkingMemory:
    """Appends the turns of the bundled conversation, again and again, until the size is reached."""
    text = files("mnestic.starter").joinpath("samples/conversation.jsonl").read_text("utf-8")
    turns = [json.loads(line) for line in text.splitlines()]
    messages: list[Message] = []
    calls: list[ToolCall] = []
    for index in count():
        turn = turns[index % len(turns)]
        message = Message(
            id=f"job/0/{index}",
            role="user" if index % 2 else "assistant",
            content=f"{index}: {turn['content']}",
            at=NOON + timedelta(seconds=index),
            speaker=turn["role"],
            channel="conversation",
        )
        call = ToolCall(
            id=f"job/0/{index}/tool",
            activity="lookup",
            arguments={"turn": index},
            result={"found": [index, index + 1], "words": turn["content"].split()[:5]},
        )
        messages.append(message)
        room_bytes -= len(canonical_json(message.model_dump(mode="json"))) + 1
        if index % 10 == 0:
            calls.append(call)
            room_bytes -= len(canonical_json(call.model_dump(mode="json"))) + 1
        if room_bytes <= 0:
            break
    return state.model_copy(update={"messages": tuple(messages), "tool_calls": tuple(calls)})
