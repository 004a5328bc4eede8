"""`mnestic memory add`, `show`, `list`, `change`, `remove` and `stats`: an agent's entries."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.ingestion import PendingMessage
from mnestic.memory.knowledge.statistics import MemoryStatistics
from mnestic.memory.timestamps import Timestamp
from mnestic.starter.cli.connection import connect_client
from mnestic.starter.cli.ids import entry_named
from mnestic.starter.cli.known_agents import Agent, known_memory, warned
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.standard_input import read_text
from mnestic.starter.cli.values import parse_as

EntryId = Annotated[str, typer.Argument(help="The entry's id, as `memory list` tells it.")]
Subjects = Annotated[
    list[str] | None, typer.Option("--subject", help="Whom or what it is about; repeat it.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by; repeat it.")]
Parent = Annotated[str | None, typer.Option(help="The entry that it belongs to.")]
Expires = Annotated[str | None, typer.Option("--expires", help="When it expires.")]
_TYPES = "interaction, insight, correction, context, learning, error, success, pattern, preference or knowledge"


def add(
    content: Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it.")],
    agent: Agent,
    entry_type: Annotated[str, typer.Option("--type", help=f"{_TYPES}.")] = "knowledge",
    subject: Subjects = None,
    tag: Tags = None,
    critical: Annotated[
        bool, typer.Option("--critical", help="No policy may ever delete it.")
    ] = False,
    parent: Parent = None,
    speaker: Annotated[str | None, typer.Option(help="Who says so; default: the agent.")] = None,
    session: Annotated[str | None, typer.Option(help="The session it belongs to.")] = None,
    source_id: Annotated[
        str | None, typer.Option(help="Its name where it comes from; the same one is added once.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="When it was said, in ISO form.")] = None,
    expires: Expires = None,
    as_json: AsJson = False,
) -> None:
    """Remember something; the same once more changes nothing."""
    said = _given(
        subjects=subject,
        tags=tag,
        speaker=speaker,
        session_id=session,
        source_id=source_id,
        at=parse_as(Timestamp, at, what="--at"),
        expires_at=parse_as(Timestamp, expires, what="--expires"),
    )
    text = read_text(content)

    async def work() -> None:
        from mnestic.starter.client.ingestion import start_ingest

        async with await connect_client() as client:
            memory = client.memory(agent)
            above = None if parent is None else await entry_named(memory, parent)
            entry = await memory.add(
                text,
                parent=above,
                entry_type=entry_type,  # type: ignore[arg-type]  # it is checked there
                critical=critical,
                **said,
            )
            await start_ingest(client, agent_id=agent)
        if as_json:
            print_json(entry.model_dump(mode="json"))
        else:
            out.print(f"{entry.entry_type} {entry.id}", soft_wrap=True)

    run(work())


def show(given: EntryId, agent: Agent, as_json: AsJson = False) -> None:
    """Show an entry: its content, how it is found, and the facts from it."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            entry_id = await entry_named(memory, given)
            entry = await memory.entries.get(entry_id)
            children, _ = await memory.entries.list(EntryQuery(parent=entry_id), limit=1000)
            lesson = await memory.entries.find_message(entry)
            facts = await memory.entries.list_facts(entry)
        if as_json:
            state = lesson.model_dump(include={"state", "extractor", "reason"}) if lesson else None
            told = {
                "children": [child.id for child in children],
                "facts": [fact.id for fact in facts],
                "ingest_state": state,
            }
            print_json(entry.model_dump(mode="json") | told)
        else:
            rows = list(_lines(entry, children, lesson, facts))
            print_table(("field", "value"), rows, empty="")

    run(work())


def list_(
    agent: Agent,
    entry_type: Annotated[
        list[str] | None, typer.Option("--type", help="Only of this type; repeat it.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this one.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    parent: Annotated[str | None, typer.Option(help="Only what belongs to this entry.")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on, in ISO form.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time.")] = None,
    status: Annotated[str, typer.Option(help="active, archived or all.")] = "active",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Where an earlier page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """List entries, the newest first."""
    asked = _given(
        entry_types=tuple(entry_type) if entry_type else None,
        subject=subject,
        session_id=session,
        since=parse_as(Timestamp, since, what="--since"),
        until=parse_as(Timestamp, until, what="--until"),
        statuses=("active", "archived") if status == "all" else (status,),
    )
    query = parse_as(EntryQuery, asked, what="entries")

    async def work() -> None:
        async with known_memory(agent) as memory:
            above = None if parent is None else await entry_named(memory, parent)
            found, following = await memory.entries.list(
                query.model_copy(update={"parent": above}), limit=limit, cursor=cursor
            )
        if as_json:
            listed = [entry.model_dump(mode="json") for entry in found]
            print_json({"entries": listed, "cursor": following})
            return
        rows = [
            (f"{e.at:%Y-%m-%d %H:%M}", e.entry_type, ", ".join(e.subjects), e.summary, e.id)
            for e in found
        ]
        columns = ("at", "type", "about", "summary", "id")
        print_table(columns, rows, empty="No entries.", cut=("summary",), ids=("id",))
        if following:
            out.print(f"More: --cursor {following}", soft_wrap=True)

    run(work())


def change(
    given: EntryId,
    agent: Agent,
    content: Annotated[str | None, typer.Option("--text", help="Another text.")] = None,
    entry_type: Annotated[str | None, typer.Option("--type", help=f"{_TYPES}.")] = None,
    subject: Subjects = None,
    tag: Tags = None,
    critical: Annotated[bool | None, typer.Option("--critical/--not-critical")] = None,
    status: Annotated[str | None, typer.Option(help="active or archived.")] = None,
    parent: Annotated[
        str | None, typer.Option(help="The entry that it belongs to; none for no one.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", help="When it expires; never if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change an entry; what it is found by follows, facts stay as they are."""
    changes = _given(
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
        why = "no change is named; name one, such as --text"
        raise InvalidInputError(what=f"entry {given}", why=why)

    async def work() -> None:
        from mnestic.starter.client.ingestion import start_ingest

        async with await connect_client() as client, warned(client, agent):
            memory = client.memory(agent)
            if changes.get("parent") is not None:
                changes["parent"] = await entry_named(memory, changes["parent"])
            entry_id = await entry_named(memory, given)
            entry = await memory.entries.change(entry_id, **changes)
            if content is not None:
                await start_ingest(client, agent_id=agent)  # which gives it a vector
        if as_json:
            print_json(entry.model_dump(mode="json"))
        else:
            print_table(("field", "value"), list(_lines(entry, (), None, ())), empty="")

    run(work())


def remove(
    given: EntryId,
    agent: Agent,
    facts: Annotated[
        bool, typer.Option("--facts", help="Also the facts that follow from it alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove an entry; its raw message stays, and is not learned from."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            entry_id = await entry_named(memory, given)
            changes = await memory.entries.remove(entry_id, facts=facts)
        if as_json:
            told = [change.model_dump(mode="json") for change in changes]
            print_json({"removed": entry_id, "changes": told})
        else:
            out.print(f"Entry {entry_id} is removed; {len(changes)} facts changed.", soft_wrap=True)

    run(work())


def stats(agent: Agent, as_json: AsJson = False) -> None:
    """Tell an agent's memory in numbers."""

    async def work() -> None:
        from mnestic.starter.client.ingest_status import find_delay

        async with await connect_client() as client, warned(client, agent):
            found = await client.memory(agent).stats()
            delay = await find_delay(client, agent_id=agent)
        if as_json:
            why = delay.why if delay else None
            print_json(found.model_dump(mode="json") | {"delay": why})
            return
        print_table(("what", "number"), list(_numbers(found)), empty="")
        if delay is not None:
            out.print(f"Learning waits: {delay.why}", soft_wrap=True)

    run(work())


def _given(**values: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _lines(
    entry: Entry,
    children: tuple[Entry, ...],
    lesson: PendingMessage | None,
    facts: tuple[Fact, ...],
) -> Iterator[tuple[str, Any]]:
    """The fields of an entry that hold something."""
    values = entry.model_dump(exclude={"times"})
    values["times"] = [f"{time.words}: {time.start} to {time.end}" for time in entry.times]
    values["facts"] = [f"{f.subject} {f.predicate} {f.object} ({f.status})" for f in facts]
    values["children"] = [child.id for child in children]
    values["ingest state"] = f"{lesson.state} {lesson.reason or ''}" if lesson else None
    for name, value in values.items():
        if value not in (None, "", (), [], False):
            yield name, "\n".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _numbers(found: MemoryStatistics) -> Iterator[tuple[str, Any]]:
    entries = found.entries
    yield "entries", entries.total
    groups: dict[str, Mapping[Any, int]] = {
        "": entries.by_type,
        "status ": entries.by_status,
        "importance ": {
            f"{tenth / 10:.1f}": number
            for tenth, number in enumerate(entries.by_importance)
            if number
        },
        "vectors of ": entries.embedded,
        "messages ": found.ingest_states.model_dump(),
        "facts ": found.facts,
    }
    for group, numbers in groups.items():
        yield from ((f"  {group}{name}", number) for name, number in numbers.items())
    yield "critical", entries.critical
    yield "expired", entries.expired
    yield "oldest", entries.oldest
    yield "newest", entries.newest
    for name, size in entries.table_bytes.items():
        yield f"table {name}, all tenants", f"{size / 2**20:.1f} MiB"
