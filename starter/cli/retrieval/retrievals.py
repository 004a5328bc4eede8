"""`mnestic memory retrievals`: the log of automatic retrievals."""

from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.starter.cli.known_agents import Agent, open_agent_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)

_COLUMNS = ("UTC", "channel", "message", "memories", "notes", "skipped", "tokens")


def retrievals(
    agent: Agent,
    limit: PageLimit = 20,
    cursor: PageCursor = None,
    as_json: AsJson = False,
) -> None:
    """List automatic retrievals, the latest first: memories with their scores, and notes."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            page, next_cursor = await memory.retrieval_log.list(limit=limit, cursor=cursor)
        if as_json:
            listed = [log_entry.model_dump(mode="json") for log_entry in page]
            print_json({"retrievals": listed, "cursor": next_cursor})
            return
        print_table(_COLUMNS, [_row(log_entry) for log_entry in page], empty="No retrievals.")
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


def _row(log_entry: StoredLogEntry) -> tuple[str, ...]:
    memories = "\n".join(f"{memory.id} {memory.score:.2f}" for memory in log_entry.memories)
    notes = "\n".join(note.path for note in log_entry.notes)
    skipped = "\n".join(
        f"{source.name or source.source}: {source.why}" for source in log_entry.skipped
    )
    return (
        f"{log_entry.created_at:%Y-%m-%d %H:%M:%S}",
        log_entry.channel,
        log_entry.preview,
        memories,
        notes,
        skipped,
        str(log_entry.tokens),
    )
