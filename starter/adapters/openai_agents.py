"""Memory for the OpenAI Agents SDK: sessions, what memory has for a message, and tools. Needs `mnestic[openai-agents]`.

The same session serves a program of its own, and a workflow that runs its agents by Temporal's plugin.
"""

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, Self, cast

from temporalio import workflow

from mnestic.memory.canonical import canonical_json, is_blank, sha256_hex
from mnestic.memory.jobs.histories import History, ItemText
from mnestic.starter.adapters.extras import lacking
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.workflows.jobs.agent_memory import AgentMemory

try:
    from agents import Tool, TResponseInputItem, function_tool
    from agents.memory import SessionSettings
    from agents.run_config import CallModelData, ModelInputData
except ModuleNotFoundError as error:
    raise lacking("openai-agents", error) from error

_TEXT_PARTS = frozenset({"input_text", "output_text", "text"})


class _Found(Protocol):
    @property
    def text(self) -> str: ...


class ConversationMemory(Protocol):
    """What a session needs of a `MemoryClient`, or of an `AgentMemory`."""

    @property
    def history(self) -> History:
        """Items by session."""

    async def auto_retrieve(
        self, message: str, channel: str, *, max_tokens: int, prompt_texts: Sequence[str]
    ) -> _Found:
        """What memory has for a message."""
        ...


class MnesticSession:
    """A session of the OpenAI Agents SDK (`agents.Session`): its items, exactly and in order.

    What the user says is memory at once, and facts are extracted from it later.
    """

    def __init__(
        self,
        session_id: str,
        memory: ConversationMemory,
        *,
        user: str = "user",
        channel: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Opens a session, which begins with its first item.

        Args:
            session_id: 1 to 128 letters, digits and ._@:+-, as `mnestic.memory.scope.check_id` wants it.
            memory: The agent's.
            user: Who speaks to the agent: whom *I* means in what is learned.
            channel: The channel of what is said; the session by default.
            session_settings: How many items a run is given at most.
        """
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._memory, self._user, self._channel = memory, user, channel or session_id
        self._unconfirmed: tuple[str, str] | None = None  # the hash of a batch, and its key

    @classmethod
    def in_workflow(cls, memory: AgentMemory, session_id: str | None = None, **more: Any) -> Self:
        """A session inside a workflow; by default that of its scope, and `more` as above.

        Each call is an activity, so a replay reads what it read then, and the next run of the workflow needs the id alone.
        """
        return cls(session_id or memory.scope.session_id, memory, **more)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last items in their order; all if neither the argument nor the settings limit them."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return _as_items(await self._memory.history.read(self.session_id, limit=limit))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items, all or none. The same items again after an attempt that failed are stored once."""
        stored = [dict(item) for item in items]
        content = sha256_hex(canonical_json(stored))
        if self._unconfirmed is None or self._unconfirmed[0] != content:
            new_id = workflow.uuid4() if workflow.in_workflow() else uuid.uuid4()
            self._unconfirmed = (content, f"session/{self.session_id}/{new_id}")
        texts = [
            ItemText(item=number, speaker=self._user, channel=self._channel, content=text)
            for number, item in enumerate(stored)
            if item.get("role") == "user" and not is_blank(text := _text_of(item))
        ]
        await self._memory.history.append(
            self.session_id, stored, texts=texts, operation_key=self._unconfirmed[1]
        )
        self._unconfirmed = None

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, with its message and what was learned from that alone; gives it, or None."""
        item = await self._memory.history.pop(self.session_id)
        return None if item is None else _as_items([item])[0]

    async def clear_session(self) -> None:
        """Removes all items; what was learned from them stays, until it is forgotten."""
        await self._memory.history.clear(self.session_id)

    def memory_context(
        self, *, max_tokens: int = 1000
    ) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
        """Puts what memory has for the user's last message before it, for `RunConfig(call_model_input_filter=)`.

        What the model's input has anyway is left out. The items of the session do not change.

        Args:
            max_tokens: The limit of the text.
        """

        async def with_context(data: CallModelData[Any]) -> ModelInputData:
            items = [dict(item) for item in data.model_data.input]
            asked = [number for number, item in enumerate(items) if item.get("role") == "user"]
            message = _text_of(items[asked[-1]]) if asked else ""
            if is_blank(message):
                return data.model_data
            found = await self._memory.auto_retrieve(
                message,
                self._channel,
                max_tokens=max_tokens,
                prompt_texts=[text for item in items if (text := _text_of(item))],
            )
            if found.text:
                items.insert(asked[-1], {"role": "user", "content": found.text})
            instructions = data.model_data.instructions
            return ModelInputData(input=_as_items(items), instructions=instructions)

        return with_context


def memory_tools(memory: MemoryClient, *, user: str = "user") -> list[Tool]:
    """Tools by which an agent remembers, recalls and forgets by itself.

    Args:
        memory: The agent's.
        user: Whom *I* means in what is remembered.
    """

    @function_tool
    async def remember(text: str) -> str:
        """Remembers something for later conversations.

        Args:
            text: One or more whole sentences that need no context.
        """
        return json.dumps({"id": (await memory.add(text, speaker=user)).id})

    @function_tool
    async def recall(question: str) -> str:
        """Searches what was said in all conversations, and what was remembered.

        Args:
            question: What to look for.
        """
        found = await memory.retrieve(question, asker=user)
        return json.dumps(
            [
                {
                    "id": hit.entry.id,
                    "content": hit.entry.content,
                    "speaker": hit.entry.speaker,
                    "at": hit.entry.at.isoformat(),
                    "score": round(hit.score, 2),
                }
                for hit in found.results
            ]
        )

    @function_tool
    async def forget(id: str) -> str:  # noqa: A002 - as `recall` names it
        """Forgets one thing that `recall` has found, and the facts that follow from it alone.

        Args:
            id: Its id.
        """
        await memory.entries.delete(id, facts=True)
        return json.dumps({"forgotten": id})

    return [remember, recall, forget]


def _text_of(item: Mapping[str, Any]) -> str:
    """What an item says in words; empty where it is a call, a result or an image."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if part.get("type") in _TEXT_PARTS)


def _as_items(items: Sequence[dict[str, Any]]) -> list[TResponseInputItem]:
    return [cast(TResponseInputItem, item) for item in items]
