"""`mnestic memory world`: what an agent knows of a subject, and what it expects."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.world.patterns import Pattern, Prediction
from mnestic.memory.knowledge.world.world_model import World
from mnestic.starter.cli.known_agents import Agent, known_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run


def world(
    subject: Annotated[str, typer.Argument(help="Whom or what to tell of.")],
    agent: Agent,
    as_json: AsJson = False,
) -> None:
    """Tell what is known of a subject: facts, their changes, patterns and predictions."""

    async def work() -> None:
        async with known_memory(agent) as memory:
            found = await memory.facts.world(subject)
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print_world(found)

    run(work())


def _print_world(found: World) -> None:
    if not (found.facts or found.changes or found.entries):
        out.print(f"Nothing is known of {found.subject}.")
        return
    changes = [fact for history in found.changes for fact in history.facts]
    told = [(fact, fact.reason) for fact in changes if fact.reason]
    for title, columns, rows in (
        ("What is so", ("fact", "since", "confidence"), [_fact(fact) for fact in found.facts]),
        (
            "How it changed",
            ("fact", "from", "to", "why"),
            [
                (_named(fact), f"{fact.valid_from:%Y-%m-%d}", f"{fact.valid_to:%Y-%m-%d}", reason)
                for fact, reason in told
            ],
        ),
        (
            "What recurs",
            ("pattern", "every", "give or take", "seen"),
            [_pattern(pattern) for pattern in found.patterns],
        ),
        (
            "What to expect",
            ("what", "around", "between", "confidence"),
            [_prediction(told) for told in found.predictions],
        ),
        (
            "Remembered patterns",
            ("entry", "at", "id"),
            [(entry.summary, f"{entry.at:%Y-%m-%d}", entry.id) for entry in found.entries],
        ),
    ):
        if rows:
            out.print(f"{title}:", style="bold")
            print_table(columns, rows, empty="")


def _named(of: Fact | Pattern | Prediction) -> str:
    return f"{of.predicate} {of.object}" if of.object else f"{of.predicate} changes"


def _fact(fact: Fact) -> tuple[str, ...]:
    return (_named(fact), f"{fact.valid_from:%Y-%m-%d}", f"{fact.confidence:.2f}")


def _pattern(pattern: Pattern) -> tuple[str, ...]:
    return (
        _named(pattern),
        f"{pattern.interval_days:g} days",
        f"{pattern.spread_days:.1f}",
        f"{pattern.regular} of {pattern.intervals} times",
    )


def _prediction(told: Prediction) -> tuple[str, ...]:
    between = f"{told.earliest:%Y-%m-%d} and {told.latest:%Y-%m-%d}"
    return (_named(told), f"{told.expected_at:%Y-%m-%d}", between, f"{told.confidence:.2f}")
