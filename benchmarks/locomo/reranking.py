"""Measures local reranking on LoCoMo: `python benchmarks/locomo/reranking.py --data FILE`; progress goes to standard error.

It tells whether local reranking brings more evidence at equal precision. Scores with and without reranking are not alike, so a threshold of the
one says nothing for the other: each conversation gets the threshold at which reranking is as precise on the other
conversations as the default is there. Everything runs on servers of its own, which are removed afterwards.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.locomo.measurement import ask_samples
from benchmarks.locomo.questions import Sample, read_samples
from mnestic.memory.errors import MnesticError
from mnestic.memory.retrieval.queries import Rerank
from mnestic.starter.cli.output import exit_code, fail, print_progress, print_table, run
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.logs import configure_logs
from mnestic.starter.settings import Settings

_COLUMNS = (
    *("conversation", "recall @5", "@10", "with reranking @5", "@10"),
    *("precision", "evidence", "threshold", "precision", "evidence"),
)
_MOST, _LEAST_SCORE = 4, 0.5  # of the memories before a message, by default
_RANKED = 10
_THRESHOLDS = np.arange(0.3, 0.8, 0.005)


class Answer(NamedTuple):
    """The results of a question, the best first: which are evidence, their scores, and how much evidence there is."""

    is_evidence: Sequence[bool]
    scores: Sequence[float]
    evidence: int


class _Shares(NamedTuple):
    """Of the results that count so many are evidence, and of the evidence so much is among them."""

    precision: float
    recall: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the options, measures, and prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON")
    options = parser.parse_args(arguments)
    configure_logs(Settings.model_construct(log_level="WARNING"))
    try:
        samples = read_samples(options.data)
        asked = run(ask_samples(samples, _ask, report=print_progress))
    except MnesticError as error:
        return fail(str(error), code=exit_code(error))
    plain, reranked = ([each[by] for each in asked] for by in ("off", "local"))
    figures = [compare(plain, reranked, place) for place in range(len(samples))]
    means = tuple(round(float(mean), 4) for mean in np.mean(figures, axis=0))
    titles = [*(sample.conversation.title for sample in samples), "mean"]
    rows = ((title, *row) for title, row in zip(titles, [*figures, means], strict=True))
    print_table(_COLUMNS, rows, empty="No questions.")
    return 0


async def _ask(memory: MemoryClient, sample: Sample) -> dict[Rerank, list[Answer]]:
    """The answers to the questions of a sample, by the reranker."""
    answers: dict[Rerank, list[Answer]] = {"off": [], "local": []}
    for question in sample.questions:
        for by, found in answers.items():
            retrieval = await memory.retrieve(
                question.text,
                limit=_RANKED,
                min_score=0,
                rerank=by,
                asked_at=sample.ends_at,
                is_access=False,
            )
            is_evidence = [one.entry.source_id in question.evidence for one in retrieval.results]
            scores = [one.score for one in retrieval.results]
            found.append(Answer(is_evidence, scores, len(question.evidence)))
    return answers


def compare(
    plain: Sequence[Sequence[Answer]], reranked: Sequence[Sequence[Answer]], place: int
) -> tuple[float, ...]:
    """The figures of one conversation; its threshold is chosen on the others."""
    others = [number for number in range(len(plain)) if number != place]
    wanted = _shares([one for other in others for one in plain[other]], _LEAST_SCORE).precision
    elsewhere = [one for other in others for one in reranked[other]]
    threshold = min(
        _THRESHOLDS, key=lambda least: abs(_shares(elsewhere, least).precision - wanted)
    )
    figures = [
        *(_recall(found[place], cut) for found in (plain, reranked) for cut in (5, _RANKED)),
        *_shares(plain[place], _LEAST_SCORE),
        threshold,
        *_shares(reranked[place], threshold),
    ]
    return tuple(round(float(one), 4) for one in figures)


def _recall(answers: Sequence[Answer], cut: int) -> float:
    """The mean share of the evidence among the first results."""
    return float(np.mean([sum(one.is_evidence[:cut]) / one.evidence for one in answers]))


def _shares(answers: Sequence[Answer], least: float) -> _Shares:
    """Of the first few results with a least score."""
    brought = [
        [hit for hit, score in zip(one.is_evidence, one.scores, strict=True) if score >= least]
        for one in answers
    ]
    few = [hits[:_MOST] for hits in brought]
    recall = np.mean([sum(hits) / one.evidence for hits, one in zip(few, answers, strict=True)])
    return _Shares(sum(map(sum, few)) / max(1, sum(map(len, few))), float(recall))


if __name__ == "__main__":
    sys.exit(main())
