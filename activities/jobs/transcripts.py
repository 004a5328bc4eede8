"""Working memory as a model reads it: messages as chat."""

from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.models.messages import ChatMessage


def transcript(state: WorkingMemory, *, last: int) -> tuple[ChatMessage, ...]:
    """The last messages as chat; the name of a speaker stands before the text."""
    if last <= 0:
        return ()
    return tuple(
        ChatMessage(role=message.role, content=text_of(message))
        for message in state.messages[-last:]
    )


def text_of(message: Message) -> str:
    """What a model gets of a message."""
    return f"{message.speaker}: {message.content}" if message.speaker else message.content
