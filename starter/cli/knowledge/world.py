"""`mnestic memory world`: facts, changes, patterns and predictions about a subject."""

from typing import Annotated

import typer

from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.world.patterns import Pattern, Prediction
from mnestic.memory.knowledge.world.world_model import World
from mnestic.starter.cli.known_agents import Agent, Reader, open_agent_memory
from mnestic.starter.cli.output import AsJson, out, print_json, print_table, run


def world(
    subject: Annotated[str, typer.Argument(help="A person or a thing.")],
    agent: Agent,
    as_json: AsJson = False,
    reader: Reader = None,
) -> None:
    """Show what is known about a subject: facts, their changes, patterns and predictions."""

    async def work() -> None:
        async with open_agent_memory(agent, reader=reader) as memory:
            world_model = await memory.facts.world(subject)
        if as_json:
            print_json(world_model.model_dump(mode="json"))
        else:
            _print_world(world_model)

    run(work())


def _print_world(world_model: World) -> None:
    if not (world_model.facts or world_model.changes or world_model.entries):
        out.print(f"Nothing is known about {world_model.subject}.")
        return
    changes = [fact for history in world_model.changes for fact in history.facts]
    prediction_or_ends = [(fact, fact.reason) for fact in changes if fact.reason]
    for title, columns, rows in (
        (
            "Current facts",
            ("fact", "since", "confidence"),
            [_fact(fact) for fact in world_model.facts],
        ),
        (
            "Changes",
            ("fact", "from", "to", "why"),
            [
                (_label(fact), f"{fact.valid_from:%Y-%m-%d}", f"{fact.valid_to:%Y-%m-%d}", reason)
                for fact, reason in prediction_or_ends
            ],
        ),
        (
            "Recurring patterns",
            ("pattern", "interval", "spread in days", "seen"),
            [_pattern(pattern) for pattern in world_model.patterns],
        ),
        (
            "Predictions",
            ("what", "around", "between", "confidence"),
            [_prediction(prediction_or_ends) for prediction_or_ends in world_model.predictions],
        ),
        (
            "Entries about patterns",
            ("entry", "at", "id"),
            [(entry.summary, f"{entry.at:%Y-%m-%d}", entry.id) for entry in world_model.entries],
        ),
    ):
        if rows:
            out.print(f"{title}:", style="bold")
            print_table(columns, rows, empty="")


def _label(item: Fact | Pattern | Prediction) -> str:
    return f"{item.predicate} {item.object}" if item.object else f"{item.predicate} changes"


def _fact(fact: Fact) -> tuple[str, ...]:
    return (_label(fact), f"{fact.valid_from:%Y-%m-%d}", f"{fact.confidence:.2f}")


def _pattern(pattern: Pattern) -> tuple[str, ...]:
    return (
        _label(pattern),
        f"{pattern.interval_days:g} days",
        f"{pattern.spread_days:.1f}",
        f"{pattern.regular} of {pattern.intervals} times",
    )


def _prediction(prediction_or_ends: Prediction) -> tuple[str, ...]:
    between = f"{prediction_or_ends.earliest:%Y-%m-%d} and {prediction_or_ends.latest:%Y-%m-%d}"
    return (
        _label(prediction_or_ends),
        f"{prediction_or_ends.expected_at:%Y-%m-%d}",
        between,
        f"{prediction_or_ends.confidence:.2f}",
    )
