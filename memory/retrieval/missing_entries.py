"""Missing entries: why a search does not return an entry that somebody expects.

It searches nothing: it compares searches that differ in one respect each.
"""

from datetime import UTC, datetime
from typing import Literal

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import Entry, Supersession
from mnestic.memory.retrieval.queries import Retrieval, RetrievalPolicy, RetrievalQuery

Stage = Literal[
    "returned", "status", "validity", "candidates", "repetition", "min_score", "share", "limit"
]


class SearchTrace(DeferredModel):
    """What became of an entry in a search.

    `stage` is where it was left out, or `returned`. `rank`, from 1, and `score` are those without any threshold or limit;
    None if no source finds it. `needed` is the score that it would have needed, or the limit that returns it. `why` says
    it in a sentence.
    """

    model_config = ConfigDict(frozen=True)

    entry_id: str
    stage: Stage
    why: str
    rank: int | None = None
    score: float | None = None
    best_score: float | None = None
    needed: float | None = None


def trace_entry(
    entry: Entry,
    *,
    query: RetrievalQuery,
    policy: RetrievalPolicy,
    searches: tuple[Retrieval, Retrieval, Retrieval, Retrieval],
    supersession: Supersession | None = None,
) -> SearchTrace:
    """What became of an entry.

    Args:
        entry: The entry that is expected.
        query: The query.
        policy: The weights of the query.
        searches: The results of the query itself, of the query without thresholds and limit, of that with
            repetitions, and of that without filters and with archived and superseded entries.
        supersession: Since when what the entry says is so no longer, if that is decided.
    """
    returned, whole, repeating, unfiltered = searches
    if (found := _place(returned, entry)) is not None:
        score = returned.results[found].score
        return SearchTrace(
            entry_id=entry.id,
            stage="returned",
            why=f"it is result {found + 1}, with a score of {score:.2f}",
            rank=found + 1,
            score=score,
            best_score=returned.results[0].score,
        )
    place = _place(whole, entry)
    best = whole.results[0].score if whole.results else None
    if place is None:
        stage, why = _left_out(entry, repeating, unfiltered)
        why = why or _invalid(entry, query, supersession)
        return SearchTrace(entry_id=entry.id, stage=stage, why=why, best_score=best)
    score, rank = whole.results[place].score, place + 1

    def trace(stage: Stage, why: str, needed: float | None = None) -> SearchTrace:
        return SearchTrace(
            entry_id=entry.id,
            stage=stage,
            why=why,
            rank=rank,
            score=score,
            best_score=best,
            needed=needed,
        )

    least = policy.min_score if query.min_score is None else query.min_score
    if query.asks_for_nothing or score < least:
        below = f"its score {score:.2f} is below the minimum, {least:.2f}", least
        nothing = "the query is a command that names nothing to search for", None
        return trace("min_score", *(nothing if query.asks_for_nothing else below))
    share = policy.min_score_share * max((one.score for one in whole.results), default=0.0)
    if least and score < share:
        why = (
            f"its score {score:.2f} is below {policy.min_score_share:.2f} of the best, {share:.2f}"
        )
        return trace("share", why, share)
    if rank <= query.limit:
        return trace(
            "candidates", "only a search without a minimum score has it among its candidates"
        )
    return trace("limit", f"it is result {rank}, and the limit is {query.limit}", float(rank))


def _left_out(entry: Entry, repeating: Retrieval, unfiltered: Retrieval) -> tuple[Stage, str]:
    """Where it was left out, and why; an invalid one for one of several reasons."""
    if _place(repeating, entry) is not None:
        return "repetition", "a result before it has the same text, by the same speaker"
    if entry.status != "active":
        return "status", f"its status is {entry.status}; ask with that status"
    if _place(unfiltered, entry) is not None:
        return "validity", ""
    why = "no source has it among its candidates: other entries are nearer by words, names and meaning"
    return "candidates", why


def _invalid(entry: Entry, query: RetrievalQuery, supersession: Supersession | None) -> str:
    ended = "what the query asks of it is so no longer"
    if supersession is None:
        has_expired = entry.expires_at and entry.expires_at <= (query.as_of or datetime.now(UTC))
        or_filter = f"{ended}, or a filter rules it out" if query.is_filtered else ended
        return "it has expired" if has_expired else or_filter
    by = f" by entry {supersession.by}" if supersession.by else ""
    return f"what it says is so no longer: {supersession.why}{by}, since {supersession.at:%Y-%m-%d}"


def _place(retrieval: Retrieval, entry: Entry) -> int | None:
    """Its index among the results."""
    ids = [result.entry.id for result in retrieval.results]
    return ids.index(entry.id) if entry.id in ids else None
