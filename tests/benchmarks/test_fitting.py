"""The weights of the ranking: what is learned from labels of both kinds."""

from typing import Any

import numpy as np

from benchmarks.ranking.fitting import Examples, fit

NAMES = ("coverage", "semantic", "question")


def examples(
    signals: list[list[float]], answers: list[int], *, questions: list[int], is_open: bool = False
) -> Examples:
    number = len(answers)
    return Examples(
        signals=np.array(signals),
        answers=np.array(answers, float),
        questions=np.array(questions),
        is_open=np.full(number, is_open),
        weights=np.ones(number),
        folds=np.zeros(number),
    )


def score(weights: Any, signals: list[float]) -> float:
    total = weights["intercept"] + sum(
        weights[name] * value for name, value in zip(NAMES, signals, strict=True)
    )
    return float(1 / (1 + np.exp(-total)))


def test_what_answers_scores_above_a_half_and_what_does_not_below() -> None:
    signals = [[1.0, 0.2, 0.0], [0.1, 0.3, 0.0]] * 40

    weights = fit(examples(signals, [1, 0] * 40, questions=[*range(80)]), NAMES)

    assert score(weights, signals[0]) > 0.5 > score(weights, signals[1])


def test_of_open_labels_only_the_order_within_a_question_counts() -> None:
    """In each question the answer has less meaning than the entries of all others, but the most of its own."""
    signals, answers, questions = [], [], []
    for number in range(40):
        least = 0.02 * number
        signals += [[0.5, least + 0.01, 0.0], [0.5, least, 0.0], [0.5, least, 0.0]]
        answers += [1, 0, 0]
        questions += [number] * 3

    opened = examples(signals, answers, questions=questions, is_open=True)
    weights = fit(opened, NAMES)

    assert weights["semantic"] > 1
    assert weights["coverage"] == 0


def test_no_weight_has_another_sign_than_its_signal_means() -> None:
    signals = [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]] * 40

    weights = fit(examples(signals, [1, 0] * 40, questions=[*range(80)]), NAMES)

    assert weights["coverage"] == 0 == weights["question"]
