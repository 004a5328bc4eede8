"""Reranking is compared at equal precision, by a threshold that other conversations choose."""

from benchmarks.locomo.reranking import Answer, compare


def _answers(*scores: tuple[float, bool]) -> list[Answer]:
    """One question for each result, whose answer is one turn."""
    return [Answer([is_evidence], [score], 1) for score, is_evidence in scores]


def test_a_conversation_has_the_threshold_of_the_others() -> None:
    plain = [_answers((0.6, True), (0.6, False), (0.4, True))] * 3
    higher = _answers((0.7, True), (0.7, False), (0.612, False))
    reranked = [_answers((0.7, True), (0.7, True), (0.6, False)), higher, higher]

    *recalls, precision, evidence, threshold, again, evidence_again = compare(plain, reranked, 0)

    assert recalls == [0.6667, 0.6667, 0.6667, 0.6667]
    assert (precision, evidence) == (0.5, 0.3333)
    assert 0.612 < threshold <= 0.7  # where one of two results of the others is evidence
    assert (again, evidence_again) == (1, 0.6667)
