"""`mnestic memory add`, `show`, `list`, `change`, `remove` and `reinstate`: an agent's entries."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.provenance import EntryProvenance
from mnestic.memory.timestamps import Timestamp
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import resolve_entry_id
from mnestic.starter.cli.knowledge.extraction_wait import extract_messages
from mnestic.starter.cli.known_agents import (
    Agent,
    Reader,
    Readers,
    open_agent_memory,
    warn_if_unknown,
)
from mnestic.starter.cli.output import (
    AsJson,
    PageCursor,
    PageLimit,
    out,
    print_json,
    print_table,
    run,
)
from mnestic.starter.cli.standard_input import read_text
from mnestic.starter.cli.values import parse_as

if TYPE_CHECKING:
    from mnestic.starter.client.mnestic_client import MnesticClient

EntryId = Annotated[
    str, typer.Argument(help="The entry's id or its beginning, as `memory list` shows it.")
]
Subjects = Annotated[
    list[str] | None, typer.Option("--subject", help="A subject of the entry; may be repeated.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]
Parent = Annotated[str | None, typer.Option(help="Id of the parent entry.")]
Expires = Annotated[str | None, typer.Option("--expires", help="When it expires.")]
TypeFilter = Annotated[
    list[str] | None, typer.Option("--type", help="Only of this type; may be repeated.")
]
TagFilter = Annotated[
    list[str] | None, typer.Option("--tag", help="Only with this tag; with several, any of them.")
]
SubjectFilter = Annotated[str | None, typer.Option("--subject", help="Only about this subject.")]
SessionFilter = Annotated[str | None, typer.Option("--session", help="Only of this session.")]
Since = Annotated[str | None, typer.Option("--since", help="From this time on, in ISO form.")]
Until = Annotated[str | None, typer.Option("--until", help="Before this time.")]
MinImportance = Annotated[
    str | None,
    typer.Option("--min-importance", help="From 0 to 1, or high, medium, low or minimal."),
]
MaxImportance = Annotated[
    str | None, typer.Option("--max-importance", help="Only below; as --min-importance.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until facts are extracted from it.")]
_TYPES = "interaction, insight, correction, context, learning, error, success, pattern, preference or knowledge"


def add(
    content: Annotated[
        str, typer.Argument(metavar="TEXT", help="The text; - reads standard input.")
    ],
    agent: Agent,
    entry_type: Annotated[str, typer.Option("--type", help=f"{_TYPES}.")] = "knowledge",
    subject: Subjects = None,
    tag: Tags = None,
    critical: Annotated[
        bool,
        typer.Option(
            "--critical", help="Protect it from deletion by any policy, unless it expires."
        ),
    ] = False,
    parent: Parent = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it; default: the agent.")] = None,
    session: Annotated[str | None, typer.Option(help="The session that it belongs to.")] = None,
    source_id: Annotated[
        str | None, typer.Option(help="Its id at the source; the same id is added once.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="When it was said, in ISO form.")] = None,
    expires: Expires = None,
    readers: Readers = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Add an entry; the same entry again changes nothing.

    Its facts are extracted in the background, unless the command waits for them.
    """
    fields = _given_options(
        subjects=subject,
        tags=tag,
        speaker=speaker,
        session_id=session,
        source_id=source_id,
        at=parse_as(Timestamp, at, what="--at"),
        expires_at=parse_as(Timestamp, expires, what="--expires"),
        readers=readers,
    )
    text = read_text(content)

    async def work() -> None:
        async with await connect_client() as client:
            memory = client.memory(agent)
            parent_id = None if parent is None else await resolve_entry_id(memory, parent)
            entry = await memory.add(
                text,
                parent=parent_id,
                entry_type=entry_type,  # type: ignore[arg-type]  # it is checked there
                critical=critical,
                **fields,
            )
            if as_json:
                print_json(entry.model_dump(mode="json"))
            else:
                out.print(f"{entry.entry_type} {entry.id}", soft_wrap=True)
            await _extract(client, agent, wait=wait)

    run(work())


async def _extract(client: "MnesticClient", agent_id: str, *, wait: bool) -> None:
    """Starts the extraction of facts, and waits for it; says why it is paused, if it is."""
    from mnestic.starter.client.ingestion import start_ingest

    if not wait:
        await start_ingest(client, agent_id=agent_id)
    elif paused := await extract_messages(client, agent_id):
        raise paused


def show(
    id_or_prefix: EntryId, agent: Agent, as_json: AsJson = False, reader: Reader = None
) -> None:
    """Show an entry: its content, its search fields, the facts from it, and what became of it."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            entry_id = await resolve_entry_id(memory, id_or_prefix)
            found = await memory.entries.provenance(entry_id)
        if as_json:
            document = found.model_dump(mode="json", exclude={"named"})
            print_json(document.pop("entry") | document)
        else:
            print_table(("field", "value"), list(_lines(found)), empty="")

    run(work())


def list_(
    agent: Agent,
    entry_type: TypeFilter = None,
    subject: SubjectFilter = None,
    tag: TagFilter = None,
    session: SessionFilter = None,
    parent: Annotated[str | None, typer.Option(help="Only the children of this entry.")] = None,
    since: Since = None,
    until: Until = None,
    min_importance: MinImportance = None,
    max_importance: MaxImportance = None,
    status: Annotated[str, typer.Option(help="active, archived or all.")] = "active",
    limit: PageLimit = 100,
    cursor: PageCursor = None,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """List entries, the newest first."""
    query = entry_query(
        entry_types=tuple(entry_type) if entry_type else None,
        subject=subject,
        tags=tag,
        session_id=session,
        since=since,
        until=until,
        min_importance=min_importance,
        max_importance=max_importance,
        statuses=("active", "archived") if status == "all" else (status,),
    )

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            parent_id = None if parent is None else await resolve_entry_id(memory, parent)
            page, next_cursor = await memory.entries.list(
                query.model_copy(update={"parent": parent_id}), limit=limit, cursor=cursor
            )
        if as_json:
            listed = [entry.model_dump(mode="json") for entry in page]
            print_json({"entries": listed, "cursor": next_cursor})
            return
        rows = [
            (f"{e.at:%Y-%m-%d %H:%M}", e.entry_type, ", ".join(e.subjects), e.summary, e.id)
            for e in page
        ]
        columns = ("at", "type", "about", "summary", "id")
        print_table(columns, rows, empty="No entries.", cut=("summary",), ids=("id",))
        if next_cursor:
            out.print(f"More: --cursor {next_cursor}", soft_wrap=True)

    run(work())


def change(
    id_or_prefix: EntryId,
    agent: Agent,
    content: Annotated[str | None, typer.Option("--text", help="The new text.")] = None,
    entry_type: Annotated[str | None, typer.Option("--type", help=f"{_TYPES}.")] = None,
    subject: Subjects = None,
    tag: Tags = None,
    critical: Annotated[
        bool | None,
        typer.Option(
            "--critical/--not-critical",
            help="Protect it from deletion by any policy, unless it expires.",
        ),
    ] = None,
    status: Annotated[str | None, typer.Option(help="active or archived.")] = None,
    parent: Annotated[
        str | None, typer.Option(help="Id of the parent entry; none removes it.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", help="When it expires; never removes the date.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change an entry; its search fields follow, its facts do not change."""
    changes = _given_options(
        content=content,
        entry_type=entry_type,
        subjects=subject,
        tags=tag,
        critical=critical,
        status=status,
        parent=parent,
    )
    if parent == "none":
        changes["parent"] = None
    if expires is not None:
        never = expires == "never"
        changes["expires_at"] = None if never else parse_as(Timestamp, expires, what="--expires")
    if not changes:
        why = "no change is given; give one, such as --text"
        raise InvalidInputError(what=f"entry {id_or_prefix}", why=why)

    async def work() -> None:
        async with await connect_client() as client, warn_if_unknown(client, agent):
            memory = client.memory(agent)
            if changes.get("parent") is not None:
                changes["parent"] = await resolve_entry_id(memory, changes["parent"])
            entry_id = await resolve_entry_id(memory, id_or_prefix)
            entry = await memory.entries.change(entry_id, **changes)
        if as_json:
            print_json(entry.model_dump(mode="json"))
        else:
            print_table(("field", "value"), list(_lines(EntryProvenance(entry=entry))), empty="")

    run(work())


def delete(
    id_or_prefix: EntryId,
    agent: Agent,
    facts: Annotated[
        bool, typer.Option("--facts", help="Also delete the facts that follow from it alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete an entry, with its raw message unless facts quote it; nothing is extracted from it any more."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            entry_id = await resolve_entry_id(memory, id_or_prefix)
            changes = await memory.entries.delete(entry_id, facts=facts)
        if as_json:
            change_documents = [change.model_dump(mode="json") for change in changes]
            print_json({"deleted": entry_id, "changes": change_documents})
        else:
            out.print(f"Entry {entry_id} is deleted; {len(changes)} facts changed.", soft_wrap=True)

    run(work())


def reinstate(id_or_prefix: EntryId, agent: Agent, as_json: AsJson = False) -> None:
    """Take back the supersession of an entry, so that searches find it again."""

    async def work() -> None:
        async with open_agent_memory(agent) as memory:
            entry_id = await resolve_entry_id(memory, id_or_prefix)
            entry = await memory.entries.reinstate(entry_id)
        if as_json:
            print_json(entry.model_dump(mode="json"))
        else:
            out.print(f"Entry {entry_id} counts again.", soft_wrap=True)

    run(work())


def entry_query(**filters: Any) -> EntryQuery:
    """The query of those filters that were given; times are text."""
    for name in ("since", "until"):
        filters[name] = parse_as(Timestamp, filters[name], what=f"--{name}")
    query: EntryQuery = parse_as(EntryQuery, _given_options(**filters), what="entries")
    return query


def _given_options(**values: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _lines(found: EntryProvenance) -> Iterator[tuple[str, Any]]:
    """The fields of an entry that hold something, and what is known about it."""
    entry, message, superseded = found.entry, found.message, found.supersession
    values = entry.model_dump(exclude={"times"})
    values["importance"] = f"{entry.importance:.2f} ({entry.level})"
    values["times"] = [f"{time.words}: {time.start} to {time.end}" for time in entry.times]
    values["facts"] = [f"{f.subject} {f.predicate} {f.object} ({f.status})" for f in found.facts]
    values |= found.model_dump(include={"children", "sources"})
    values["job"] = message and message.job_id
    values["ingest state"] = f"{message.state} {message.reason or ''}" if message else None
    if superseded:
        values["superseded"] = f"{superseded.why} at {superseded.at}, by {superseded.by or '-'}"
    if found.archived:
        values["archived"] = f"{found.archived.reason} at {found.archived.archived_at}"
    values["retrieved"] = [f"{one.created_at}: {one.preview}" for one in found.retrievals]
    values["changes"] = [f"{one.at}: {one.action} by {one.actor}" for one in found.changes]
    for name, value in values.items():
        if value not in (None, "", (), [], False):
            yield name, "\n".join(map(str, value)) if isinstance(value, (list, tuple)) else value
