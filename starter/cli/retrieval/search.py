"""`mnestic memory search`: what an agent's memory has for a question."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mnestic.memory.retrieval.queries import PRESETS, PresetName, Retrieval, RetrievalPolicy
from mnestic.memory.timestamps import Timestamp
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run
from mnestic.starter.cli.values import parse_as

Repeated = list[str] | None


def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    agent: Agent,
    mode: Annotated[str, typer.Option(help="hybrid, semantic or text.")] = "hybrid",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 10,
    min_score: Annotated[
        float | None, typer.Option(help="Only from this score on, 0 to 1; default: the policy's.")
    ] = None,
    entry_type: Annotated[
        Repeated, typer.Option("--type", help="Only of this type; repeat it.")
    ] = None,
    category: Annotated[
        Repeated, typer.Option(help="Only with facts of this category; repeat it.")
    ] = None,
    tag: Annotated[Repeated, typer.Option(help="Only with this tag; repeat it.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this one.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    channel: Annotated[str | None, typer.Option(help="Only of this channel.")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on, in ISO form.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time.")] = None,
    as_of: Annotated[str | None, typer.Option(help="As it was known at this time.")] = None,
    status: Annotated[str, typer.Option(help="active, archived or all.")] = "active",
    preset: Annotated[
        str | None, typer.Option(help="Weights: mnestic or leonidas; default: the agent's own.")
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(help="Read the best once more: local, remote or off; default: the agent's."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell what gave each its score.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search an agent's memory; what nothing is known of has no answer."""
    asked: dict[str, Any] = {
        "mode": mode,
        "limit": limit,
        "min_score": min_score,
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
        "as_of": parse_as(Timestamp, as_of, what="--as-of"),
    }
    policy = _policy(preset)

    async def work() -> None:
        async with known_memory(agent) as memory:
            found = await memory.retrieve(query, policy=policy, **asked)
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print(found, explain=explain)

    run(work())


def _policy(preset: str | None) -> RetrievalPolicy | None:
    if preset is None:
        return None
    return PRESETS[parse_as(PresetName, preset, what="--preset")]


def _print(found: Retrieval, *, explain: bool) -> None:
    rows = [
        (
            f"{one.score:.2f}",
            f"{one.entry.at:%Y-%m-%d %H:%M}",
            one.entry.speaker or "",
            one.entry.content,
            one.entry.id,
        )
        for one in found.results
    ]
    columns = ("score", "at", "said by", "what", "id")
    print_table(columns, rows, empty="Nothing is known of that.", cut=("what",), ids=("id",))
    for source, why in found.skipped.items():
        what = "reranking" if source == "rerank" else f"{source} search"
        out.print(f"Without {what}: {why}", soft_wrap=True)
    if explain:
        for line in _explained(found):
            out.print(line, soft_wrap=True)


def _explained(found: Retrieval) -> Iterator[str]:
    words = ", ".join(f"{word} {weight:.1f}" for word, weight in found.words.items())
    yield f"words: {words or 'none'}"
    if found.misspelt:
        yield "read as: " + ", ".join(f"{one} → {other}" for one, other in found.misspelt.items())
    if found.names:
        yield f"about: {', '.join(found.names)}"
    if found.period:
        start, end = found.period
        yield f"time: {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M}"
    for place, one in enumerate(found.results, 1):
        parts = sorted(one.signals.items(), key=lambda part: -abs(part[1]))
        yield f"{place}. " + ", ".join(f"{name} {value:+.2f}" for name, value in parts)
