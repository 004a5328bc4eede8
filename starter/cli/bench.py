"""`mnestic bench`: how well memory does on data that others made."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.starter.cli.output import (
    AsJson,
    print_json,
    print_progress,
    print_refusal,
    print_table,
    run,
)

if TYPE_CHECKING:
    from mnestic.starter.locomo_bench import Found, LocomoReport

app = typer.Typer(help="Measure memory on data that others made.", no_args_is_help=True)

_COLUMNS = ("search", "turns @5", "@10", "@20", "sessions @1", "@5", "@10")


@app.command()
def locomo(
    data: Annotated[
        Path, typer.Option(help="LoCoMo's JSON: samples of a conversation with its questions.")
    ],
    as_json: AsJson = False,
) -> None:
    """Ask LoCoMo's questions: how much of the evidence is found, and how fast.

    On servers of its own, which are removed afterwards, with the local provider.
    """
    from mnestic.starter.cli.overrides import command_settings
    from mnestic.starter.locomo_bench import measure_locomo
    from mnestic.starter.locomo_questions import read_samples
    from mnestic.starter.logs import configure_logs

    samples = read_samples(data, refuse=lambda error: print_refusal(str(error)))
    left_out = sum(sample.left_out for sample in samples)
    if left_out:
        print_progress(f"Questions whose evidence names no turn are left out: {left_out}")
    configure_logs(command_settings().model_copy(update={"log_level": "WARNING"}))
    report = run(measure_locomo(samples, tell=print_progress))
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    print_table(_COLUMNS, _rows(report), empty="Nothing was asked.")
    print_table(
        ("category", "turns @5", "@10", "@20"),
        ((name, *recall.values()) for name, recall in report.by_category.items()),
        empty="",
    )
    ms = report.ms
    print_progress(
        f"{report.questions} questions, {ms.p50:.1f} ms each (p95 {ms.p95:.1f}), "
        f"{report.tokens_p50:.0f} tokens an answer"
    )


def _rows(report: "LocomoReport") -> Iterator[tuple[object, ...]]:
    searches: dict[str, Found] = {"retrieve": report, **report.baselines}
    for name, found in searches.items():
        yield name, *found.turn_recall.values(), *found.session_recall.values()
