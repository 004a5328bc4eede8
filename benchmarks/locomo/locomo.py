"""Measures retrieval on LoCoMo: `python benchmarks/locomo/locomo.py --data FILE`; progress goes to standard error.

It tells how much of the evidence is found, beside plain searches, and how fast. Everything runs on servers of its own, which are
removed afterwards, with the local provider.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.locomo.measurement import LocomoReport, RecallFigures, measure_locomo
from benchmarks.locomo.questions import read_samples
from mnestic.memory.errors import MnesticError
from mnestic.starter.cli.output import (
    exit_code,
    fail,
    print_json,
    print_progress,
    print_refusal,
    print_table,
    run,
)
from mnestic.starter.logs import configure_logs
from mnestic.starter.settings import Settings

_COLUMNS = ("search", "turns @5", "@10", "@20", "sessions @1", "@5", "@10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the options, measures, and prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="LoCoMo's JSON: samples with their questions"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        _measure(options.data, as_json=options.json)
    except MnesticError as error:
        return fail(str(error), code=exit_code(error))
    return 0


def _measure(data: Path, *, as_json: bool) -> None:
    samples = read_samples(data, refuse=lambda error: print_refusal(str(error)))
    left_out = sum(sample.left_out for sample in samples)
    if left_out:
        print_progress(f"Questions whose evidence names no turn are left out: {left_out}")
    configure_logs(Settings.model_construct(log_level="WARNING"))
    report = run(measure_locomo(samples, report=print_progress))
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    print_table(_COLUMNS, _rows(report), empty="No questions.")
    print_table(
        ("category", "turns @5", "@10", "@20"),
        ((name, *recall.values()) for name, recall in report.by_category.items()),
        empty="",
    )
    print_table(
        ("words around a question", "evidence brought", "empty elsewhere"),
        ((words, one.brought, one.empty_elsewhere) for words, one in report.messages.items()),
        empty="",
    )
    ms = report.ms
    print_progress(
        f"{report.questions} questions, {ms.p50:.1f} ms each (p95 {ms.p95:.1f}), "
        f"{report.tokens_p50:.0f} tokens an answer"
    )


def _rows(report: LocomoReport) -> Iterator[tuple[object, ...]]:
    searches: dict[str, RecallFigures] = {"retrieve": report, **report.baselines}
    for name, found in searches.items():
        yield name, *found.turn_recall.values(), *found.session_recall.values()


if __name__ == "__main__":
    sys.exit(main())
