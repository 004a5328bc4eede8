"""`mnestic memory archive`, `archived` and `restore`: entries that no search finds, and that come back whole."""

from typing import Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.cli.ids import resolve_archived_id, resolve_entry_id
from mnestic.starter.cli.knowledge.entries import (
    MaxImportance,
    SessionFilter,
    Since,
    SubjectFilter,
    TagFilter,
    TypeFilter,
    Until,
    entry_query,
)
from mnestic.starter.cli.known_agents import Agent, Reader, open_agent_memory
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)


def archive(
    agent: Agent,
    id_or_prefix: Annotated[
        str | None,
        typer.Argument(help="The entry's id or its beginning, as `memory list` shows it."),
    ] = None,
    entry_type: TypeFilter = None,
    subject: SubjectFilter = None,
    tag: TagFilter = None,
    session: SessionFilter = None,
    since: Since = None,
    until: Until = None,
    max_importance: MaxImportance = None,
    as_json: AsJson = False,
) -> None:
    """Archive an entry, or all of some filters: no search finds them, their facts stay, and they can be restored."""
    filters = (entry_type, subject, tag, session, since, until, max_importance)
    if (id_or_prefix is None) == all(one is None for one in filters):
        raise InvalidInputError(what="entries", why="are chosen by an id, or by filters")
    query = entry_query(
        entry_types=tuple(entry_type) if entry_type else None,
        subject=subject,
        tags=tag,
        session_id=session,
        since=since,
        until=until,
        max_importance=max_importance,
    )

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            if id_or_prefix is None:
                archived = await memory.entries.archive_matching(query)
            else:
                entry_id = await resolve_entry_id(memory, id_or_prefix)
                await memory.entries.archive(entry_id)
        if id_or_prefix is None and as_json:
            print_json({"archived": archived})
        elif id_or_prefix is None:
            command = f"mnestic memory archived --agent {agent}"
            out.print(f"{archived} entries are archived; {command} lists them.", soft_wrap=True)
        elif as_json:
            print_json({"archived": entry_id})
        else:
            command = f"mnestic memory restore {entry_id[:8]} --agent {agent}"
            out.print(f"Entry {entry_id} is archived; {command} restores it.", soft_wrap=True)

    run(work())


def restore(
    id_or_prefix: Annotated[
        str, typer.Argument(help="The entry's id or its beginning, as `memory archived` shows it.")
    ],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Restore an archived entry, as it was."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            entry_id = await resolve_archived_id(memory, id_or_prefix)
            entry = await memory.entries.restore(entry_id)
        if as_json:
            print_json(entry.model_dump(mode="json"))
        else:
            out.print(f"Entry {entry_id} is restored.", soft_wrap=True)

    run(work())


def archived(
    agent: Agent,
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """List archived entries, the one archived last first."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            page, next_cursor = await memory.entries.list_archived(limit=limit, cursor=cursor)
        if as_json:
            listed = [one.model_dump(mode="json") for one in page]
            print_json({"archived": listed, "cursor": next_cursor})
            return
        rows = [
            (
                f"{one.mark.archived_at:%Y-%m-%d %H:%M}",
                one.mark.reason,
                f"{one.entry.at:%Y-%m-%d %H:%M}",
                one.entry.summary,
                one.entry.id,
            )
            for one in page
        ]
        columns = ("archived", "why", "at", "summary", "id")
        print_table(columns, rows, empty="Nothing is archived.", cut=("summary",), ids=("id",))
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())
