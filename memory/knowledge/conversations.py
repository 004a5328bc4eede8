"""A conversation as it is read from a file: sessions of turns."""

from datetime import UTC

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import EntryType
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.sharing.readers import Readers


class Turn(DeferredModel):
    """What one speaker said, or one tool returned, at one time; `id` is unique within its conversation.

    `content_id` is told by what is in it, where `id` only tells a place in a file. `attached_to` is the
    message, by its `source_id`, that a tool's result came with. `readers` alone may read it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    speaker: str
    text: str
    at: AwareDatetime
    kind: TurnKind = "message"
    entry_type: EntryType = "interaction"
    content_id: str | None = None
    attached_to: str | None = None
    readers: Readers | None = None

    @property
    def source_id(self) -> str:
        """By which it is known again, in this file and after changes of it."""
        return self.content_id or self.id


class ConversationSession(DeferredModel):
    """Turns in order of time; `at` is when the session began.

    `is_counted` says that its `id` is only which of its conversation's sessions it is.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    at: AwareDatetime
    turns: tuple[Turn, ...]
    is_counted: bool = False

    @property
    def source_id(self) -> str:
        """By which it is known again, whatever sessions are found before it later."""
        return f"{self.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if self.is_counted else self.id


class Conversation(DeferredModel):
    """Sessions in order of time; `others` names the conversations that its file holds beside it."""

    model_config = ConfigDict(frozen=True)

    title: str
    sessions: tuple[ConversationSession, ...]
    others: tuple[str, ...] = ()
