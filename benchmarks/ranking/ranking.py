"""Learns the weights of the signals: `python benchmarks/ranking/ranking.py --data FILE`; progress goes to standard error.

It asks questions with known answers, fits the weights to the signals of what comes back, and writes `memory/retrieval/weights.json`. The figures that
it prints are of weights that were fitted without the world that is asked. Everything runs on servers of its own, with the local provider.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.locomo.measurement import knowing_samples
from benchmarks.locomo.questions import read_samples
from benchmarks.ranking.fitting import Examples, fit
from benchmarks.ranking.questions import (
    LabelledQuestion,
    locomo_questions,
    setting_questions,
    world_questions,
)
from mnestic.memory.errors import MnesticError
from mnestic.memory.retrieval.queries import LEARNED, MOST_RESULTS, Retrieval, RetrievalPolicy
from mnestic.starter.cli.output import exit_code, fail, print_progress, print_table, run
from mnestic.starter.logs import configure_logs
from mnestic.starter.settings import Settings

_FILE = Path(__file__).parents[2] / "memory" / "retrieval" / "weights.json"
_FOLDS = 5
_NAMES = tuple(name for name in LEARNED if name != "intercept")
# Each signal comes back as it is.
_UNWEIGHTED = RetrievalPolicy.model_validate(dict.fromkeys(LEARNED, 1.0))
_TOLD = 0.5  # the least score of what is put before a message
_BANDS = ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))

Answered = tuple[LabelledQuestion, Retrieval]


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the options, learns, and prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON")
    options = parser.parse_args(arguments)
    configure_logs(Settings.model_construct(log_level="WARNING"))
    try:
        answered = run(_learn(options.data))
    except MnesticError as error:
        return fail(str(error), code=exit_code(error))
    columns = ("questions", "number", "first", "@5", "@10", "nothing at .5")
    print_table(columns, _rows(answered), empty="No questions.")
    bands = [f"{low:.1f}" for low, _ in _BANDS]
    print_table(("first results that answer, by score", *bands), _bands(answered), empty="")
    return 0


async def _learn(data: Path) -> list[Answered]:
    """Learns the weights, and asks each question with those of all other folds."""
    samples = read_samples(data)
    async with knowing_samples(samples, report=print_progress) as client:
        asked = [*locomo_questions(client, samples)]
        asked += [one async for one in setting_questions(client)]
        asked += [one async for one in world_questions(client)]
        folds = _folds(asked)
        examples = await _examples(asked, folds)
        print_progress(f"{len(asked)} questions, {len(examples.answers)} labelled results")
        made = {"made_by": "make ranking", "weights": _in_order(fit(examples, _NAMES))}
        _FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        answered: list[Answered] = []
        for fold in range(_FOLDS):
            policy = RetrievalPolicy.model_validate(
                fit(examples.where(examples.folds != fold), _NAMES)
            )
            for question in (one for one in asked if folds[one.world] == fold):
                # LoCoMo's figures are of where its evidence stands.
                least = {"min_score": 0} if question.source == "locomo" else {}
                answered.append((question, await question.ask(policy=policy, **least)))
        return answered


def _folds(asked: Iterable[LabelledQuestion]) -> Mapping[str, int]:
    """The fold of each world; those of one source are spread over all."""
    worlds: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for question in asked:
        worlds[question.source.replace("elsewhere", "locomo")][question.world] = None
    return {world: place % _FOLDS for each in worlds.values() for place, world in enumerate(each)}


async def _examples(asked: Sequence[LabelledQuestion], folds: Mapping[str, int]) -> Examples:
    rows, labels = [], []
    for number, question in enumerate(asked):
        for mode, weight in question.modes.items():
            found = await question.ask(
                policy=_UNWEIGHTED, mode=mode, min_score=0, limit=MOST_RESULTS, repeats=True
            )
            for one in found.results:
                label = question.label(one.entry.source_id or "")
                if label is not None:
                    rows.append([one.signals.get(name, 0.0) for name in _NAMES])
                    is_open = question.source == "locomo"
                    labels.append((label, number, is_open, weight, folds[question.world]))
    answers, numbers, are_open, weights, of_folds = map(np.array, zip(*labels, strict=True))
    return Examples(np.array(rows), answers, numbers, are_open, weights, of_folds)


def _in_order(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: weights[name] for name in LEARNED}


def _rows(answered: Sequence[Answered]) -> Iterator[tuple[object, ...]]:
    by_source: defaultdict[str, list[Answered]] = defaultdict(list)
    for one in answered:
        by_source[one[0].source].append(one)
    for source, some in by_source.items():
        right = [(question, retrieval) for question, retrieval in some if question.right]
        nothing = [
            retrieval
            for question, retrieval in some
            if question.wrong is None and not question.right
        ]
        told = [not any(one.score >= _TOLD for one in each.results) for each in nothing]
        recalls = ([_recall(*one, cut) for one in right] for cut in (5, 10))
        first = [_is_right(*one) for one in right]
        yield source, len(some), _mean(first), *map(_mean, recalls), _mean(told)


def _bands(answered: Sequence[Answered]) -> Iterator[tuple[object, ...]]:
    for source in ("locomo", "settings", "worlds"):
        first = [
            (retrieval.results[0].score, _is_right(question, retrieval))
            for question, retrieval in answered
            if question.source == source and retrieval.results
        ]
        in_bands = (
            [right for score, right in first if low <= score < high] for low, high in _BANDS
        )
        yield source, *(f"{_mean(some)} of {len(some)}" for some in in_bands)


def _is_right(question: LabelledQuestion, retrieval: Retrieval) -> bool:
    first = retrieval.results[0].entry.source_id if retrieval.results else None
    return first in question.right or first in question.ignored


def _recall(question: LabelledQuestion, retrieval: Retrieval, cut: int) -> float:
    found = {one.entry.source_id for one in retrieval.results[:cut]}
    return len(found & question.right) / len(question.right)


def _mean(values: Sequence[float]) -> float | str:
    return round(float(np.mean(values)), 3) if values else ""


if __name__ == "__main__":
    sys.exit(main())
