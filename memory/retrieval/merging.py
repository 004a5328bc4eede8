"""Merging: the answers to the clauses of a message as one answer.

It stands apart from the clauses because it weighs results: what was asked counts before what was remarked.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from mnestic.memory.retrieval.clauses import Clause
from mnestic.memory.retrieval.queries import Retrieval, RetrievalQuery, RetrievedEntry

_REMARK_SHARE = 0.55  # of its score that a result of a remark keeps, if the message asks something
_BEST_SHARE = 0.25  # a result of a remark below this share of the best is left out


def merge_answers(
    clauses: Sequence[Clause], answers: Sequence[Retrieval], *, query: RetrievalQuery
) -> Retrieval:
    """One answer, the best first; an entry that several clauses find counts by its best score.

    Each question brings some of its results, however well another one is answered.

    Args:
        clauses: The clauses of the query's text.
        answers: The answer to each clause, found with the same filters.
        query: The query, whose limit holds for all results together.
    """
    if len(clauses) == 1:
        return answers[0]
    pairs = [*zip(clauses, answers, strict=True)]
    asked = [answer.results for clause, answer in pairs if clause.is_question]
    remarked = [answer.results for clause, answer in pairs if not clause.is_question]
    if asked:
        best = max((one.score for results in asked for one in results), default=0.0)
        least = max(query.min_score or 0.0, _BEST_SHARE * best)
        remarked = [tuple(_discounted(results, least=least)) for results in remarked]
    chosen: dict[str, RetrievedEntry] = {}
    for result in (*_in_turn(asked), *_by_score(remarked)):
        known = chosen.get(result.entry.id)
        if known is None and len(chosen) == query.limit:
            continue
        if known is None or known.score < result.score:
            chosen[result.entry.id] = result
    periods = (answer.period for clause, answer in pairs if clause.is_question or not asked)
    return Retrieval(
        results=tuple(_by_score([[*chosen.values()]])),
        words={word: weight for answer in answers for word, weight in answer.words.items()},
        names=tuple(dict.fromkeys(name for answer in answers for name in answer.names)),
        misspelt={slip: word for answer in answers for slip, word in answer.misspelt.items()},
        period=next((period for period in periods if period), None),
        skipped={name: why for answer in answers for name, why in answer.skipped.items()},
    )


def _discounted(results: Sequence[RetrievedEntry], *, least: float) -> Iterator[RetrievedEntry]:
    for one in results:
        score = round(_REMARK_SHARE * one.score, 4)
        if score >= least:
            yield one.model_copy(update={"score": score})


def _in_turn(answers: Sequence[Sequence[RetrievedEntry]]) -> Iterator[RetrievedEntry]:
    """The best result of each, then the second of each, and so on."""
    for place in range(max(map(len, answers), default=0)):
        yield from (results[place] for results in answers if place < len(results))


def _by_score(answers: Sequence[Sequence[RetrievedEntry]]) -> list[RetrievedEntry]:
    results = [one for answer in answers for one in answer]
    return sorted(results, key=attrgetter("score"), reverse=True)
