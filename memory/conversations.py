"""A conversation as it is read from a file: sessions of turns.

It stands alone because readers of every format produce it and jobs, importers and benchmarks take it.
"""

from pydantic import AwareDatetime, BaseModel, ConfigDict


class Turn(BaseModel):
    """What one speaker said at one time; `id` is unique within its conversation."""

    model_config = ConfigDict(frozen=True)

    id: str
    speaker: str
    text: str
    at: AwareDatetime


class ConversationSession(BaseModel):
    """Turns in order of time; `at` is when the session began."""

    model_config = ConfigDict(frozen=True)

    id: str
    at: AwareDatetime
    turns: tuple[Turn, ...]


class Conversation(BaseModel):
    """Sessions in order of time."""

    model_config = ConfigDict(frozen=True)

    title: str
    sessions: tuple[ConversationSession, ...]
