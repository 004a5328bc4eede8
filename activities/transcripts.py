"""Working memory as a model reads it: templates filled in, messages as chat."""

from collections.abc import Mapping
from typing import Any

from mnestic.memory.language import ChatMessage
from mnestic.memory.templates import resolve
from mnestic.memory.working import WorkingMemory


def memory_roots(state: WorkingMemory, results: Mapping[str, Any]) -> Mapping[str, Any]:
    """What templates find under `${memory...}`."""
    return {
        "memory": {
            "results": results,
            "variables": state.variables,
            "scratchpad": state.scratchpad,
            "task": state.current_task or "",
            "message_count": len(state.messages),
        }
    }


def fill_in(value: Any, state: WorkingMemory, *, results: Mapping[str, Any]) -> Any:
    """Fills in the templates that name working memory, or results that a job holds by reference.

    Raises:
        InvalidInputError: a template names something that is not there.
    """
    return resolve(value, memory_roots(state, results))


def transcript(state: WorkingMemory, *, last: int) -> tuple[ChatMessage, ...]:
    """The last messages as chat; a named speaker is told before the text."""
    if last <= 0:
        return ()
    return tuple(
        ChatMessage(
            role=message.role,
            content=f"{message.speaker}: {message.content}" if message.speaker else message.content,
        )
        for message in state.messages[-last:]
    )
