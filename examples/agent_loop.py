"""A chat that remembers: memories and the latest messages come before each message, and each message becomes a memory.

Beside `mnestic up`:

    python agent_loop.py

Without a key a local model answers, which only quotes. For any OpenAI-compatible server set `OPENAI_API_KEY`,
`OPENAI_BASE_URL` or both, and `MNESTIC_CHAT_MODEL`. An empty line ends the chat; the next one remembers it.
"""

import asyncio
import sys

from mnestic import MnesticClient
from mnestic.activities.clients.local import MODEL as LOCAL
from mnestic.memory.models.messages import ChatMessage
from mnestic.starter.settings import load_settings
from mnestic.worker import open_models

PERSON, AGENT, CHANNEL = "Mara", "companion", "terminal"


async def main() -> None:
    """Answers line by line until there is none."""
    settings = load_settings()
    async with (
        open_models(settings) as models,
        await MnesticClient.connect(settings) as client,
    ):
        memory = client.memory(AGENT)
        while message := await asyncio.to_thread(_read):
            known = await memory.auto_retrieve(message, CHANNEL, max_tokens=1000)
            prompt = [
                ChatMessage(role="user", content=text) for text in (known.text, message) if text
            ]
            reply = await models["model"].reply(prompt, max_tokens=300)
            print(f"assistant ({len(known.memories)} memories): {reply.text}", flush=True)
            await memory.add(message, entry_type="interaction", speaker=PERSON, channel=CHANNEL)
            if reply.model != LOCAL:  # which says what memory has already
                await memory.add(
                    reply.text, entry_type="interaction", speaker=AGENT, channel=CHANNEL
                )


def _read() -> str:
    print(f"{PERSON}: ", end="", flush=True)
    return sys.stdin.readline().strip()


if __name__ == "__main__":
    asyncio.run(main())
