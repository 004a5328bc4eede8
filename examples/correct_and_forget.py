"""Correct what an agent believes, look at how it changed, and have the agent forget a topic.

Beside `mnestic up`, whose worker does the forgetting:

    python correct_and_forget.py
"""

import asyncio

from mnestic import MnesticClient
from mnestic.starter.client.memory_client import MemoryClient


async def main() -> None:
    """Corrects a fact, then forgets a project."""
    async with await MnesticClient.connect() as client:
        memory = client.memory("archivist")
        await correct(memory)
        await forget(memory)


async def correct(memory: MemoryClient) -> None:
    """Adds a wrong fact and corrects it: a person lives in one place at a time."""
    await memory.facts.add("Mara", "lives_in", "Lisbon")
    await memory.facts.add("Mara", "lives_in", "Porto")

    facts, _ = await memory.facts.list(subject="Mara")
    print("Believed now:", *(f"{fact.predicate} {fact.object}" for fact in facts))
    history = await memory.facts.history("Mara", "lives_in")
    for fact in history.facts:
        print(f"  {fact.object}: {fact.end or 'current'}")


async def forget(memory: MemoryClient) -> None:
    """Shows what would go, and removes it for good."""
    await memory.add("Project Falcon starts in August. Mara prefers tea.")

    shown = await memory.preview_forget("Project Falcon")
    for item in shown.items:
        print(f"To forget: {item.kind} {item.text!r}")
    await memory.forget("Project Falcon", confirm=shown.token)

    for question in ("When does Project Falcon start?", "What does Mara drink?"):
        answer = await memory.retrieve(question, limit=1)
        found = [hit.entry.content for hit in answer.results] or ["nothing is known"]
        print(question, *found)


if __name__ == "__main__":
    asyncio.run(main())
