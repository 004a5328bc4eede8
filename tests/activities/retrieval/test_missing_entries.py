"""`memory.why` says at which stage a search leaves out an entry that somebody expects."""

from datetime import UTC, datetime

import pytest

from mnestic.memory.errors import NotFoundError
from mnestic.memory.retrieval.missing_entries import trace_entry
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery
from mnestic.starter.client.memory_client import MemoryClient

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
QUESTION = "Where is the red ladder?"


async def test_a_limit_says_which_one_returns_the_entry(ada: MemoryClient) -> None:
    for number in range(3):
        await ada.add(f"The red ladder is behind shed {number}.", at=NOON)
    last = await ada.add("A red ladder was seen in the yard of somebody else.", at=NOON)
    found = await ada.retrieve(QUESTION)

    trace = await ada.why(QUESTION, expect=last.id, limit=1)

    assert trace.stage == "limit"
    assert trace.needed == [one.entry.id for one in found.results].index(last.id) + 1


async def test_what_the_search_returns_is_never_called_missing(ada: MemoryClient) -> None:
    entry = await ada.add("The red ladder is behind the shed.", at=NOON)
    found = await ada.retrieve(QUESTION)
    without = found.model_copy(update={"results": ()})

    trace = trace_entry(
        entry,
        query=RetrievalQuery(text=QUESTION),
        policy=RetrievalPolicy(),
        searches=(found, without, without, without),
    )

    assert (trace.stage, trace.rank, trace.score) == ("returned", 1, found.results[0].score)


async def test_a_score_below_the_minimum_says_how_much_is_lacking(ada: MemoryClient) -> None:
    entry = await ada.add("The ladder is made of ash, and somebody sat on it for hours.", at=NOON)

    trace = await ada.why(QUESTION, expect=entry.id, min_score=0.99)

    assert trace.stage == "min_score"
    assert trace.score is not None
    assert trace.score < 0.99 == trace.needed


async def test_a_score_far_below_the_best_is_a_matter_of_share(ada: MemoryClient) -> None:
    await ada.add("The red ladder is behind the shed.", at=NOON)
    entry = await ada.add("Ladders are sold on the market in the north of the old town.", at=NOON)
    policy = RetrievalPolicy(min_score=0.01, min_score_share=0.9)

    trace = await ada.why(QUESTION, expect=entry.id, policy=policy)

    assert trace.stage == "share"
    assert trace.best_score is not None
    assert trace.needed == pytest.approx(0.9 * trace.best_score)


async def test_what_is_archived_expired_repeats_or_comes_back_says_so(ada: MemoryClient) -> None:
    first = await ada.add("The red ladder is behind the shed.", at=NOON, source_id="first")
    second = await ada.add("The red ladder is behind the shed.", at=NOON, source_id="second")
    archived = await ada.add("The red ladder is in the barn.", at=NOON)
    expired = await ada.add("The red ladder is in the attic.", at=NOON, expires_at=NOON)
    await ada.entries.change(archived.id, status="archived")

    traces = [
        await ada.why(QUESTION, expect=entry.id) for entry in (archived, expired, first, second)
    ]

    stages = [trace.stage for trace in traces]
    assert stages[:2] == ["status", "validity"]
    assert traces[1].why == "it has expired"
    assert sorted(stages[2:]) == ["repetition", "returned"]
    (returned,) = (trace for trace in traces if trace.stage == "returned")
    assert (returned.rank, returned.score) == (1, returned.best_score)
    with pytest.raises(NotFoundError, match="nobody"):
        await ada.why(QUESTION, expect="nobody")


async def test_among_many_nearer_ones_an_entry_is_no_candidate(ada: MemoryClient) -> None:
    for number in range(25):
        await ada.add(f"The red ladder is behind shed {number}.", at=NOON)
    far = await ada.add("Quarterly invoices go out on Mondays.", at=NOON)
    policy = RetrievalPolicy(pool=10)

    assert (await ada.why(QUESTION, expect=far.id, policy=policy)).stage == "candidates"
