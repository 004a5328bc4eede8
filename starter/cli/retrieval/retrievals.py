"""`mnestic memory retrievals`: what was put before messages."""

from typing import Annotated

import typer

from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run

_COLUMNS = ("UTC", "channel", "message", "memories", "notes", "skipped", "tokens")


def retrievals(
    agent: Agent,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what was put before messages, the latest first: memories with their scores, and notes."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            found, following = await memory.retrieval_log.list(limit=limit, cursor=cursor)
        if as_json:
            listed = [one.model_dump(mode="json") for one in found]
            print_json({"retrievals": listed, "cursor": following})
            return
        print_table(_COLUMNS, [_row(one) for one in found], empty="No retrievals.")
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


def _row(one: StoredLogEntry) -> tuple[str, ...]:
    memories = "\n".join(f"{memory.id} {memory.score:.2f}" for memory in one.memories)
    notes = "\n".join(note.path for note in one.notes)
    skipped = "\n".join(f"{each.name or each.source}: {each.why}" for each in one.skipped)
    return (
        f"{one.created_at:%Y-%m-%d %H:%M:%S}",
        one.channel,
        one.preview,
        memories,
        notes,
        skipped,
        str(one.tokens),
    )
