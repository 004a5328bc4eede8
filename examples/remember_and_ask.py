"""Remember some things, ask for them, and build the block that a prompt is given.

Beside `mnestic up`:

    python remember_and_ask.py
"""

import asyncio

from mnestic import MemoryConnection

KNOWN = (
    "Mara is allergic to peanuts.",
    "Mara moved to Porto in March.",
    "The office closes at six on Fridays.",
)


async def main() -> None:
    """Adds entries, then searches for three questions; the last has no result."""
    async with await MemoryConnection.connect() as connection:
        memory = connection.memory("assistant")
        for text in KNOWN:
            await memory.add(text)  # it is found from here on; adding it again changes nothing

        for question in (
            "What is Mara allergic to?",
            "When does the office close?",
            "Who won the cup?",
        ):
            answer = await memory.retrieve(question, limit=1)
            print(question)
            for hit in answer.results:
                print(f"  {hit.score:.2f}  {hit.entry.content}")
            if not answer.results:
                print("  nothing is known")

        context = await memory.context_for_query("What can I cook for Mara?", max_tokens=300)
        print(f"\nFor the prompt, {context.tokens} tokens:\n{context.text}")


if __name__ == "__main__":
    asyncio.run(main())
