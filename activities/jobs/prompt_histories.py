"""What a prompt gets of a session: its last messages, or by a contract the texts of its segments."""

from collections.abc import Callable
from dataclasses import dataclass

from mnestic.activities.jobs.transcripts import transcript
from mnestic.memory.contract.document import ShortTerm
from mnestic.memory.jobs.short_term.segments import SegmentEntry, fitting
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.models.messages import ChatMessage

# What a chat format adds. Source: OpenAI's cookbook, "How to count tokens with tiktoken".
TOKENS_A_MESSAGE = 4


@dataclass(frozen=True, kw_only=True)
class FittedHistory:
    """The part that fits, with its tokens, and the entries of segments that it has."""

    messages: tuple[ChatMessage, ...]
    tokens: int
    used: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PromptHistory:
    """What a prompt may have of a session. `texts` are its words, for a search that leaves them out."""

    texts: tuple[str, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    entries: tuple[SegmentEntry, ...] = ()
    rules: ShortTerm | None = None

    def fit(self, *, room: int, count_tokens: Callable[[str], int]) -> FittedHistory:
        """The newest messages that fit, or of the segments, by priority, the newest texts."""
        if self.rules is not None:
            return self._of_segments(self.rules, room=room)
        total, chosen = 0, list[ChatMessage]()
        for message in reversed(self.messages):
            tokens = count_tokens(message.content) + TOKENS_A_MESSAGE
            if total + tokens > room:
                break
            total += tokens
            chosen.append(message)
        return FittedHistory(messages=tuple(reversed(chosen)), tokens=total)

    def _of_segments(self, rules: ShortTerm, *, room: int) -> FittedHistory:
        entries = fitting(self.entries, rules, room=room, around=TOKENS_A_MESSAGE)
        return FittedHistory(
            messages=tuple(ChatMessage(role=each.role, content=each.content) for each in entries),
            tokens=sum((each.tokens or 0) + TOKENS_A_MESSAGE for each in entries),
            used=tuple(each.id for each in entries),
        )


def last_messages(state: WorkingMemory, *, count: int) -> PromptHistory:
    """The last messages of a session."""
    last = state.messages[-count:] if count else ()
    texts = tuple(message.content for message in last)
    return PromptHistory(texts=texts, messages=transcript(state, last=count))


def segment_texts(entries: tuple[SegmentEntry, ...], rules: ShortTerm) -> PromptHistory:
    """The texts of segments."""
    texts = tuple(entry.content for entry in entries)
    return PromptHistory(texts=texts, entries=entries, rules=rules)
