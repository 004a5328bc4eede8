"""`mnestic memory search`: searches an agent's memory."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer

from mnestic.memory.retrieval.queries import PRESETS, PresetName, Retrieval, RetrievalPolicy
from mnestic.memory.timestamps import Timestamp
from mnestic.starter.cli.known_agents import Agent, Asker, Reader, open_agent_memory
from mnestic.starter.cli.output import AsJson, PageLimit, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as

Repeated = list[str] | None
_ARCHIVED = "(archived) "
_MADE_OF: Mapping[str, str] = MappingProxyType(
    {"fact": "(fact)", "episode": "(episode)", "compressed": "(compressed)"}
)


def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    agent: Agent,
    mode: Annotated[
        str,
        typer.Option(help="hybrid, semantic, or text: only entries with words of the question."),
    ] = "hybrid",
    limit: PageLimit = 10,
    min_score: Annotated[
        float | None, typer.Option(help="Minimum score, 0 to 1; default: the policy's.")
    ] = None,
    kind: Annotated[
        Repeated, typer.Option(help="Only of this kind: message, fact or episode; may be repeated.")
    ] = None,
    entry_type: Annotated[
        Repeated, typer.Option("--type", help="Only of this type; may be repeated.")
    ] = None,
    category: Annotated[
        Repeated, typer.Option(help="Only with facts of this category; may be repeated.")
    ] = None,
    tag: Annotated[Repeated, typer.Option(help="Only with this tag; may be repeated.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this subject.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    channel: Annotated[str | None, typer.Option(help="Only of this channel.")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on, in ISO form.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Search memory as it was at this time.")] = None,
    status: Annotated[str, typer.Option(help="active, archived or all.")] = "active",
    preset: Annotated[
        str | None, typer.Option(help="Weights: mnestic or leonidas; default: the agent's own.")
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(help="Rerank the best results: local, remote or off; default: the agent's."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the parts of each score.")
    ] = False,
    as_json: AsJson = False,
    reader: Reader = None,
    asker: Asker = None,
) -> None:
    """Search an agent's memory; without a relevant entry there are no results."""
    arguments: dict[str, Any] = {
        "mode": mode,
        "limit": limit,
        "min_score": min_score,
        "kinds": tuple(kind or ()),
        "entry_types": tuple(entry_type or ()),
        "categories": tuple(category or ()),
        "tags": tuple(tag or ()),
        "subject": subject,
        "session_id": session,
        "channel": channel,
        "statuses": ("active", "archived") if status == "all" else (status,),
        "since": parse_as(Timestamp, since, what="--since"),
        "until": parse_as(Timestamp, until, what="--until"),
        "rerank": rerank,
        "asker": asker,
        "as_of": parse_as(Timestamp, as_of, what="--as-of"),
    }
    policy = _policy(preset)

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            retrieval = await memory.retrieve(query, policy=policy, **arguments)
        if as_json:
            print_json(retrieval.model_dump(mode="json"))
        else:
            _print(retrieval, explain=explain)

    run(work())


def _policy(preset: str | None) -> RetrievalPolicy | None:
    if preset is None:
        return None
    return PRESETS[parse_as(PresetName, preset, what="--preset")]


def _print(retrieval: Retrieval, *, explain: bool) -> None:
    rows = [
        (
            f"{result.score:.2f}",
            f"{result.entry.at:%Y-%m-%d %H:%M}",
            result.entry.speaker or _MADE_OF.get(result.entry.kind, ""),
            f"{_ARCHIVED if result.archived else ''}{result.entry.content}",
            result.entry.id,
        )
        for result in retrieval.results
    ]
    columns = ("score", "at", "speaker", "content", "id")
    print_table(columns, rows, empty="No results.", cut=("content",), ids=("id",))
    for source, why in retrieval.skipped.items():
        what = "reranking" if source == "rerank" else f"{source} search"
        out.print(f"Without {what}: {why}", soft_wrap=True)
    if explain:
        for line in _explanation(retrieval):
            out.print(line, soft_wrap=True)


def _explanation(retrieval: Retrieval) -> Iterator[str]:
    words = ", ".join(f"{word} {weight:.1f}" for word, weight in retrieval.words.items())
    yield f"words: {words or 'none'}"
    if retrieval.misspelt:
        yield "corrected: " + ", ".join(
            f"{result} → {other}" for result, other in retrieval.misspelt.items()
        )
    if retrieval.names:
        yield f"names: {', '.join(retrieval.names)}"
    if retrieval.period:
        start, end = retrieval.period
        yield f"time: {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M}"
    for rank, result in enumerate(retrieval.results, 1):
        parts = sorted(result.signals.items(), key=lambda part: -abs(part[1]))
        yield f"{rank}. " + ", ".join(f"{name} {value:+.2f}" for name, value in parts)
